# bash completion for outdial; generated from its table of commands
_outdial() {
  local cur="${COMP_WORDS[COMP_CWORD]}" raw="${COMP_LINE:0:COMP_POINT}" mode= line last pre
  local -a words=()
  # COMP_WORDS is cut at = and : as well, which needs a package to undo: so the line is split here.
  read -r -a words <<<"$raw"
  [[ $raw == *[[:space:]] ]] && words+=("")
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $mode ]]; then mode=$line; continue; fi
    [[ -n $line ]] && COMPREPLY+=("${line%%$'\t'*}")
  done < <(outdial __complete -- bash "${words[@]:1}" 2>/dev/null)
  if [[ $mode == :file ]]; then
    COMPREPLY=()
    compopt -o default 2>/dev/null
    return
  fi
  last="${words[${#words[@]}-1]}"
  if [[ $last == *[=:]* ]]; then
    pre="${last%"$cur"}"
    [[ $cur == [=:] ]] && pre="$last"
    COMPREPLY=("${COMPREPLY[@]#"$pre"}")
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[,=] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _outdial outdial
