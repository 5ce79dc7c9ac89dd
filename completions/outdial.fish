# fish completion for outdial; generated from its table of commands
function __outdial_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l out (outdial __complete -- fish $words[2..-1] 2>/dev/null)
    if test "$out[1]" = ":file"
        __fish_complete_path (commandline -ct)
        return
    end
    if test (count $out) -gt 1
        printf '%s\n' $out[2..-1]
    end
end
complete -c outdial -f -a '(__outdial_complete)'
