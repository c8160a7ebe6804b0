# Completion for bash. Verbs, options and their words are those that --help tells, so they are always the program's own.
_teewire() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
    local help verbs=() i nested values
    for ((i = 1;; ++i)); do
        help=$("$program" "${verbs[@]}" --help 2>/dev/null) || return
        nested=$(sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
        [ -n "$nested" ] && [ "$i" -lt "$COMP_CWORD" ] || break
        verbs+=("${COMP_WORDS[i]}")
    done
    # Such as: --format TEXT:{text,json}
    [[ $before == --* ]] && values=$(sed -n "s/^.*$before [A-Z]*:{\([^}]*\)}.*/\1/p" <<<"$help" | tr , ' ')
    if [ -n "$values" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [[ $word == -* ]]; then
        values=$(sed -n 's/^  \(-[-a-z,]*\).*/\1/p' <<<"$help" | tr , ' ')
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [ -n "$nested" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$nested" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _teewire teewire
