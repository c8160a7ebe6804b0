#compdef teewire
# Completion for zsh. The program itself knows what may follow.
_teewire() {
    local -a offers
    offers=(${(f)"$($words[1] --complete ${words[2,CURRENT-1]} 2>/dev/null)"}) || return
    if [[ $#offers -gt 0 && ( $words[CURRENT] == -* || $offers[1] != -* ) ]]; then
        compadd -- $offers
    else
        _files
    fi
}
_teewire "$@"
