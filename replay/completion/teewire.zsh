#compdef teewire
# Completion for zsh. Verbs, options and their words are those that --help tells, so they are always the program's own.
_teewire() {
    local program=$words[1] help nested values
    local -a verbs
    while true; do
        help=$("$program" $verbs --help 2>/dev/null) || return
        nested=$(sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")
        [[ -n $nested ]] && (( $#verbs + 2 < CURRENT )) || break
        verbs+=($words[$#verbs+2])
    done
    # Such as: --format TEXT:{text,json}
    [[ $words[CURRENT-1] == --* ]] &&
        values=$(sed -n "s/^.*$words[CURRENT-1] [A-Z]*:{\([^}]*\)}.*/\1/p" <<<"$help" | tr , '\n')
    if [[ -n $values ]]; then
        compadd -- ${(f)values}
    elif [[ $words[CURRENT] == -* ]]; then
        compadd -- ${(f)"$(sed -n 's/^  \(-[-a-z,]*\).*/\1/p' <<<"$help" | tr , '\n')"}
    elif [[ -n $nested ]]; then
        compadd -- ${(f)nested}
    else
        _files
    fi
}
_teewire "$@"
