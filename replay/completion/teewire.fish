# Completion for fish. The program itself knows what may follow.
function __teewire_offers
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l offers ($words[1] --complete $words[2..-1] 2>/dev/null)
    if set -q offers[1]; and string match -q -- '-*' $word; or not string match -q -- '-*' $offers[1]
        printf '%s\n' $offers
    else
        __fish_complete_path $word
    end
end
complete -c teewire -f -a '(__teewire_offers)'
