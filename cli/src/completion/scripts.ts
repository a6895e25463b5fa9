/** The scripts that shells load. They ask `millrace completion words` for the words that may follow. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Names may hold spaces and quotes: bash gets them escaped, zsh and fish escape by themselves. */
const BASH = `# Completion of millrace for bash. Load it with: source <(millrace completion bash)
_millrace() {
  local word words
  mapfile -t words < <(millrace completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  for word in "\${words[@]}"; do
    COMPREPLY+=("$(printf '%q' "$word")")
  done
}
complete -o bashdefault -o default -F _millrace millrace
`;

const ZSH = `#compdef millrace
# Completion of millrace for zsh. Load it with: source <(millrace completion zsh)
_millrace() {
  local -a found
  found=("\${(@f)$(millrace completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( \${#found} )) && [[ -n "\${found[1]}" ]]; then
    compadd -a found
  else
    _files
  fi
}
compdef _millrace millrace
`;

const FISH = `# Completion of millrace for fish. Load it with: millrace completion fish | source
complete -c millrace -f -a '(millrace completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
