/** `3.4` and `3.4a` as 3.4; what is no version as 0. */
function versionOf(text: string | undefined): number {
  const [, major, minor] = /^(\d{1,5})(?:\.(\d{1,5}))?/.exec(text ?? "") ?? [];
  return Number(major ?? 0) + Number(`0.${(minor ?? "0").padStart(3, "0")}`);
}

/**
 * Programs (TERM_PROGRAM) that know OSC 8 and the version from which on; 0 is
 * any. Source: the terminals' own release notes, gathered at
 * https://github.com/Alhadis/OSC8-Adoption.
 */
const programs: ReadonlyMap<string, string> = new Map([
  ["iTerm.app", "3.1"],
  ["WezTerm", "0"],
  ["vscode", "1.72"],
  ["ghostty", "0"],
  ["Hyper", "0"],
  ["Tabby", "0"],
  ["rio", "0"],
  ["zed", "0"],
  ["mintty", "3.1"],
  // It passes links on to the terminal around it, which then decides.
  ["tmux", "3.4"],
]);

const terminals = /^(?:xterm-(?:kitty|ghostty)|alacritty|foot|contour|wezterm)\b/;

/**
 * Whether hyperlinks (OSC 8) are shown as such by the terminal that `env`
 * describes. First match wins:
 *
 * | what                                   | links                           |
 * |----------------------------------------|---------------------------------|
 * | FORCE_HYPERLINK set                    | unless it is 0 or false         |
 * | no terminal, TERM=dumb, CI             | no                              |
 * | TERM_PROGRAM known                     | from its version on             |
 * | inside screen, or tmux without a name  | no: it would show the bytes     |
 * | Windows Terminal, Konsole, VTE >= 0.52 | yes (VTE 0.50 broke on them)    |
 * | TERM of kitty, Alacritty, foot, ...    | yes                             |
 * | anything else                          | no                              |
 */
export function showsHyperlinks(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const force = env["FORCE_HYPERLINK"];
  if (force) return force !== "0" && force.toLowerCase() !== "false";
  const term = env["TERM"] ?? "";
  if (!isTerminal || term === "dumb" || env["CI"]) return false;
  const since = programs.get(env["TERM_PROGRAM"] ?? "");
  if (since !== undefined) return versionOf(env["TERM_PROGRAM_VERSION"]) >= versionOf(since);
  if (/^(?:screen|tmux)\b/.test(term)) return false;
  if (env["WT_SESSION"] || env["KONSOLE_VERSION"] || env["DOMTERM"]) return true;
  if (Number(env["VTE_VERSION"]) >= 5200) return true;
  return terminals.test(term);
}
