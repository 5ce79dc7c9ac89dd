import type { Context, Input } from "./handler.ts";

/** Names of the files that shells look for. */
export const scriptFiles = { bash: "outdial.bash", zsh: "_outdial", fish: "outdial.fish" } as const;

/** `outdial completion <shell>`. */
export async function printScript(context: Context, input: Input): Promise<void> {
  const shell = input.arg("shell");
  if (shell === "bash" || shell === "zsh" || shell === "fish")
    await context.print.text(completionScript(shell));
}

/** The script a shell sources: it asks `outdial __complete` for candidates at every Tab. */
export function completionScript(shell: keyof typeof scriptFiles): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
}

/*
 * What `__complete` answers: `:file` or `:nofile`, then a candidate a line, `value<Tab>description`.
 * `:file` leaves the word to the shell's own completion of file names.
 */

const bashScript = `# bash completion for outdial; generated from its table of commands
_outdial() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" raw="\${COMP_LINE:0:COMP_POINT}" mode= line last pre
  local -a words=()
  # COMP_WORDS is cut at = and : as well, which needs a package to undo: so the line is split here.
  read -r -a words <<<"$raw"
  [[ $raw == *[[:space:]] ]] && words+=("")
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $mode ]]; then mode=$line; continue; fi
    [[ -n $line ]] && COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(outdial __complete -- bash "\${words[@]:1}" 2>/dev/null)
  if [[ $mode == :file ]]; then
    COMPREPLY=()
    compopt -o default 2>/dev/null
    return
  fi
  last="\${words[\${#words[@]}-1]}"
  if [[ $last == *[=:]* ]]; then
    pre="\${last%"$cur"}"
    [[ $cur == [=:] ]] && pre="$last"
    COMPREPLY=("\${COMPREPLY[@]#"$pre"}")
  fi
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[,=] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _outdial outdial
`;

const zshScript = `#compdef outdial
# zsh completion for outdial; generated from its table of commands
_outdial() {
  local -a out items
  local line mode
  out=("\${(@f)$(outdial __complete -- zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  mode=$out[1]
  shift out
  if [[ $mode == :file ]]; then
    _files
    return
  fi
  for line in $out; do
    if [[ $line == *$'\\t'* ]]; then
      items+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      items+=("\${line//:/\\\\:}")
    fi
  done
  _describe 'outdial' items
}
if [[ $funcstack[1] == _outdial ]]; then
  _outdial "$@"
else
  compdef _outdial outdial
fi
`;

const fishScript = `# fish completion for outdial; generated from its table of commands
function __outdial_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l out (outdial __complete -- fish $words[2..-1] 2>/dev/null)
    if test "$out[1]" = ":file"
        __fish_complete_path (commandline -ct)
        return
    end
    if test (count $out) -gt 1
        printf '%s\\n' $out[2..-1]
    end
end
complete -c outdial -f -a '(__outdial_complete)'
`;
