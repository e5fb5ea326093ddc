import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";

const bash = `# Completion of knowctl for bash; load it with: source <(knowctl completion bash)
_knowctl_complete() {
  local line mode=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $mode ]]; then mode=$line; else COMPREPLY+=("$line"); fi
  done < <(command knowctl __complete bash "\${COMP_TYPE-}" "\${COMP_WORDBREAKS-}" "\${COMP_LINE:0:\${COMP_POINT}}" 2>/dev/null)
  case $mode in
    ordered) compopt -o nosort 2>/dev/null ;;
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
    both)
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${2-}")
      compopt -o filenames 2>/dev/null
      ;;
  esac
}
if type compopt >/dev/null 2>&1; then
  complete -F _knowctl_complete knowctl
else
  complete -o default -F _knowctl_complete knowctl
fi
`;

const zsh = `#compdef knowctl
# Completion of knowctl for zsh; load it with: source <(knowctl completion zsh)
_knowctl() {
  local mode= line current=$PREFIX
  local -a values shown options before
  before=("\${(@Q)words[2,CURRENT-1]}")
  while IFS= read -r line; do
    if [[ -z $mode ]]; then
      mode=$line
    else
      values+=("\${line%%$'\\t'*}")
      shown+=("\${line#*$'\\t'}")
    fi
  done < <(command knowctl __complete zsh "$current" "\${(@)before}" 2>/dev/null)
  [[ $current == --*=* ]] && compset -P '*='
  [[ $mode == ordered ]] && options=(-V knowctl)
  if (( $#values )); then
    compadd $options -l -d shown -a values
  fi
  case $mode in
    files|both) _files ;;
    directories) _files -/ ;;
  esac
}
if [[ \${funcstack[1]-} == _knowctl ]]; then
  _knowctl "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _knowctl knowctl
fi
`;

const fish = `# Completion of knowctl for fish; write it to ~/.config/fish/completions/knowctl.fish
function __knowctl_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l answer (command knowctl __complete fish "$current" $before 2>/dev/null)
    set -l mode $answer[1]
    set -e answer[1]
    test (count $answer) -gt 0; and printf '%s\\n' $answer
    switch "$mode"
        case files both
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
    end
end
complete -c knowctl -e
complete -c knowctl -k -f -a '(__knowctl_complete)'
`;

const powershell = `# Completion of knowctl for PowerShell; load it in the file that $PROFILE names:
# knowctl completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName knowctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.Extent.Text }
        })
    $line = [string]::Join([string][char]0, [string[]]($before + @([string]$wordToComplete)))
    $coded = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($line))
    $program = Get-Command -Name knowctl -CommandType Application, ExternalScript -ErrorAction SilentlyContinue |
        Select-Object -First 1
    if (-not $program) { return }
    $answer = (& $program __complete powershell $coded 2>$null) -join ''
    if (-not $answer) { return }
    foreach ($each in @(ConvertFrom-Json -InputObject $answer)) {
        [System.Management.Automation.CompletionResult]::new($each.value, $each.shown, 'ParameterValue', $each.text)
    }
}
`;

/** The completion script of each shell. */
export const scripts = { bash, zsh, fish, powershell } as const;

/** `completion SHELL`: prints the script. It is constant, so it needs no output gate. */
export async function printScript(
  context: Context,
  [shell = ""]: string[],
  _options: GlobalFlags,
): Promise<void> {
  await context.stdout.write(scripts[shell as keyof typeof scripts]);
}
