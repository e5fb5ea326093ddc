/** `3.4` and `3.4a` as a number with minor/1000: 3.004; text that is not a version as 0. */
function versionOf(text: string | undefined): number {
  const [, major, minor] = /^(\d{1,5})(?:\.(\d{1,5}))?/.exec(text ?? "") ?? [];
  return Number(major ?? 0) + Number(`0.${(minor ?? "0").padStart(3, "0")}`);
}

/**
 * Programs (TERM_PROGRAM) that support OSC 8, with the first version; 0 is any.
 * Source: the terminals' own release notes, collected at
 * https://github.com/Alhadis/OSC8-Adoption.
 */
const firstVersions: ReadonlyMap<string, string> = new Map([
  ["iTerm.app", "3.1"],
  ["WezTerm", "0"],
  ["vscode", "1.72"],
  ["ghostty", "0"],
  ["Hyper", "0"],
  ["Tabby", "0"],
  ["rio", "0"],
  ["zed", "0"],
  ["mintty", "3.1"],
  // tmux forwards links to the outer terminal, which may ignore them.
  ["tmux", "3.4"],
]);

const supportedTerms = /^(?:xterm-(?:kitty|ghostty)|alacritty|foot|contour|wezterm)\b/;

/**
 * Whether the terminal that `env` describes supports hyperlinks (OSC 8). The first
 * match applies:
 *
 * | condition                              | links                           |
 * |----------------------------------------|---------------------------------|
 * | FORCE_HYPERLINK set                    | yes, unless it is 0 or false    |
 * | no terminal, TERM=dumb, CI             | no                              |
 * | TERM_PROGRAM known                     | from its first version          |
 * | screen, or tmux without TERM_PROGRAM   | no: it would print the bytes    |
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
  const since = firstVersions.get(env["TERM_PROGRAM"] ?? "");
  if (since !== undefined) return versionOf(env["TERM_PROGRAM_VERSION"]) >= versionOf(since);
  if (/^(?:screen|tmux)\b/.test(term)) return false;
  if (env["WT_SESSION"] || env["KONSOLE_VERSION"] || env["DOMTERM"]) return true;
  if (Number(env["VTE_VERSION"]) >= 5200) return true;
  return supportedTerms.test(term);
}
