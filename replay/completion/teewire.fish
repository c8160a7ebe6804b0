# Completion for fish. Verbs, options and their words are those that --help tells, so they are always the program's own.
function __teewire_offers
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l verbs
    set -l help
    set -l nested
    while true
        set help ($words[1] $verbs --help 2>/dev/null); or return
        set nested (printf '%s\n' $help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
        set -q nested[1]; and test (count $verbs) -lt (math (count $words) - 1); or break
        set -a verbs $words[(math (count $verbs) + 2)]
    end
    # Such as: --format TEXT:{text,json}
    set -l values
    if string match -q -- '--*' $words[-1]
        set values (printf '%s\n' $help | sed -n "s/^.*$words[-1] [A-Z]*:{\([^}]*\)}.*/\1/p" | tr , '\n')
    end
    if set -q values[1]
        printf '%s\n' $values
    else if string match -q -- '-*' $word
        printf '%s\n' $help | sed -n 's/^  \(-[-a-z,]*\).*/\1/p' | tr , '\n'
    else if set -q nested[1]
        printf '%s\n' $nested
    else
        __fish_complete_path $word
    end
end
complete -c teewire -f -a '(__teewire_offers)'
