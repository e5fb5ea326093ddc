import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";

/** A candidate for the current word; `text` explains it, neutralised and short. */
interface Candidate {
  value: string;
  text: string;
}

export interface Offer {
  candidates: Candidate[];
  /** The shell also completes names of files or folders. */
  paths?: "files" | "directories";
  /** The order has a meaning: last used first. */
  ordered?: true;
}

/** The line up to the cursor, split as in bash. */
interface ShellLine {
  /** Words before the word at the cursor, without quotes; the first is the program. */
  words: string[];
  /** The beginning of the word at the cursor, without quotes. */
  current: string;
  /** Length of the part of `current` that stays as typed; the inserted text follows it. */
  kept: number;
  /** The quotation mark that is still open. */
  quote: "" | '"' | "'";
}

interface Reader extends ShellLine {
  /** A word has begun, even if it is only an empty pair of quotes. */
  inWord: boolean;
}

/** Reads inside quotation marks; returns where they end. */
function readQuoted(reader: Reader, line: string, start: number, quote: '"' | "'"): number {
  reader.quote = quote;
  reader.kept = reader.current.length;
  let at = start;
  for (; at < line.length && line[at] !== quote; at++) {
    const next = line[at + 1];
    const escapes =
      quote === '"' && line[at] === "\\" && next !== undefined && '"\\$`'.includes(next);
    if (escapes) at++;
    reader.current += line[at] ?? "";
  }
  if (at >= line.length) return at;
  reader.quote = "";
  // A closing quote also ends the part that the line editor replaces.
  reader.kept = reader.current.length;
  return at + 1;
}

/**
 * Splits a command line as bash and its line editor do. Returns words without quotes, and
 * the part of the last word that the editor replaces: the part after the last open quote,
 * or after the last unquoted character of `breaks` (COMP_WORDBREAKS). Does not expand
 * substitutions.
 */
export function readShellLine(line: string, breaks: string): ShellLine {
  const reader: Reader = { words: [], current: "", kept: 0, quote: "", inWord: false };
  let at = 0;
  while (at < line.length) {
    const character = line[at] ?? "";
    if (/[ \t\n]/.test(character)) {
      if (reader.inWord) reader.words.push(reader.current);
      Object.assign(reader, { current: "", kept: 0, inWord: false });
      at++;
      continue;
    }
    reader.inWord = true;
    if (character === '"' || character === "'") {
      at = readQuoted(reader, line, at + 1, character);
      continue;
    }
    const escaped = character === "\\";
    reader.current += escaped ? (line[at + 1] ?? "") : character;
    if (!escaped && breaks.includes(character)) reader.kept = reader.current.length;
    at += escaped ? 2 : 1;
  }
  const { words, current, kept, quote } = reader;
  return { words, current, kept, quote };
}

function escapeForBash(text: string, quote: ShellLine["quote"]): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // bash expands `!` inside double quotes, and no escape inside them prevents it.
  if (quote === '"') return text.replace(/[\\"$`]/g, "\\$&").replaceAll("!", '"\\!"');
  return text.replace(/[^\w./,+%@-]/gu, (each) => (each > "\u007f" ? each : `\\${each}`));
}

/** Quotes a text for a bash line, after the open quotation mark. */
export function quoteForBash(text: string, quote: ShellLine["quote"]): string {
  const word = escapeForBash(text, quote);
  // The line editor adds the closing quote, unless the text ends with this quote.
  return quote !== "" && word.endsWith(quote) ? word + quote : word;
}

/** Quotes a text as one PowerShell word. */
export function quoteForPowerShell(text: string): string {
  if (/^[A-Za-z0-9_][\w./:\\=+-]*$/.test(text) || /^--[\w-]+$/.test(text)) return text;
  // PowerShell reads typographic quotes as plain quotes.
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}

/** Finds the candidates for the words before the cursor and the beginning of the word at it. */
export type Find = (
  words: readonly string[],
  current: string,
) => Promise<Offer & { prefix: string }>;

// Completion types in which bash shows a list and inserts only the common prefix.
const listing = new Set(["63", "33", "64"]);

function modeOf({ candidates, paths, ordered }: Offer): string {
  if (paths !== undefined) return candidates.length > 0 ? "both" : paths;
  return ordered ? "ordered" : "words";
}

async function forBash(args: readonly string[], find: Find): Promise<string> {
  const [type = "", breaks = "", text = ""] = args;
  const { words, current, kept, quote } = readShellLine(text, breaks);
  const offer = await find(words.slice(1), current);
  const left = offer.candidates.filter(({ value }) => value.startsWith(current));
  // With file names among the candidates, the line editor quotes the whole text.
  const showTexts = left.length > 1 && offer.paths === undefined && listing.has(type);
  const lines = left.map(({ value, text: more }) => {
    const word = quoteForBash(value.slice(kept), quote);
    return showTexts && more !== "" ? `${word}  (${more})` : word;
  });
  return [modeOf({ ...offer, candidates: left }), ...lines].join("\n");
}

// zsh and fish filter the candidates themselves, by the user's settings. A line for zsh is the value,
// a tab, and the shown text.
async function forZsh([current = "", ...words]: readonly string[], find: Find): Promise<string> {
  const offer = await find(words, current);
  const shown = offer.candidates.map(({ value, text }) => ({
    value: value.slice(offer.prefix.length),
    text,
  }));
  const width = Math.min(40, Math.max(0, ...shown.map(({ value }) => value.length)));
  const lines = shown.map(({ value, text }) =>
    text === "" ? `${value}\t${value}` : `${value}\t${value.padEnd(width)}  -- ${text}`,
  );
  return [modeOf(offer), ...lines].join("\n");
}

async function forFish([current = "", ...words]: readonly string[], find: Find): Promise<string> {
  const offer = await find(words, current.replace(/^["']/, ""));
  const lines = offer.candidates.map(({ value, text }) => (text ? `${value}\t${text}` : value));
  return [modeOf(offer), ...lines].join("\n");
}

// Windows PowerShell damages quotes in arguments and letters in output: base64 in, ASCII out.
async function forPowerShell([coded = ""]: readonly string[], find: Find): Promise<string> {
  const words = Buffer.from(coded, "base64").toString("utf8").split("\0");
  const current = (words.pop() ?? "").replace(/^["']/, "");
  const offer = await find(words, current);
  const left = offer.candidates.filter(({ value }) => value.startsWith(current));
  const results = left.map(({ value, text }) => ({
    value: quoteForPowerShell(value),
    shown: value,
    text: text || value,
  }));
  return JSON.stringify(results).replace(
    /[\u007f-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The output for each shell's script. */
export const shells: Readonly<
  Record<string, (args: readonly string[], find: Find) => Promise<string>>
> = { bash: forBash, zsh: forZsh, fish: forFish, powershell: forPowerShell };

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
