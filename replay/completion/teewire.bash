# Completion for bash. The program itself knows what may follow.
_teewire() {
    local word=${COMP_WORDS[COMP_CWORD]} offers
    offers=$("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null) || return
    [[ $word == -* || $offers != -* ]] || offers=
    if [ -n "$offers" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$offers" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _teewire teewire
