import type { Severity } from "../../checks/lint/rule.ts";
import { severities } from "./lint-run.ts";

/** The class of a group that contains findings of these severities: `e`, `ew`, `ewn`, … */
export function groupClass(found: readonly Severity[]): string {
  return found.map((name) => name.charAt(0)).join("");
}

const groupClasses = ["e", "w", "n", "ew", "en", "wn", "ewn"];

/** Hides findings of a severity without a tick, and groups of which nothing remains. */
function hidingRules(): string {
  const unticked = (letter: string): string => `#show-${letter}:not(:checked)`;
  const items = severities.flatMap((name) =>
    ["li", "b"].map((tag) => `${unticked(name.charAt(0))}~section ${tag}.${name}`),
  );
  const groups = groupClasses.map(
    (name) => `${Array.from(name, unticked).join("~")}~section details.${name}`,
  );
  return `${[...items, ...groups].join(",")}{display:none}`;
}

/** Style of the lint report. The filters are inputs beside the lists: they need no script. */
export const lintStyle = `
.filter{position:absolute;opacity:0}
.filters{display:flex;flex-wrap:wrap;gap:8px;margin-top:16px}
.filters label{padding:3px 12px;border:1px solid var(--line);border-radius:99px;background:var(--card);color:var(--soft);cursor:pointer;font-size:13px}
${["show-e", "show-w", "show-n", "by-rule", "by-file"].map((id) => `#${id}:checked~.filters label[for=${id}]`).join(",")}{color:var(--ink);border-color:var(--accent);font-weight:650}
${["show-e", "show-w", "show-n", "by-rule", "by-file"].map((id) => `#${id}:focus-visible~.filters label[for=${id}]`).join(",")}{outline:2px solid var(--accent);outline-offset:2px}
.filters .gap{flex-basis:12px}
#by-rule:checked~.files,#by-file:checked~.rules{display:none}
${hidingRules()}
summary code{margin-right:8px}
summary .error,.level.error{color:var(--bad)}summary .warning,.level.warning{color:var(--warn)}summary .note,.level.note{color:var(--soft)}
.level{font-size:12px;font-weight:650;margin-right:8px}
.advice{margin:0 0 8px;color:var(--soft);max-width:75ch}
details li .path{margin-right:8px}
`;
