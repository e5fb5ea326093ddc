import type { ReportedCase, ReportedDocument } from "../../../checks/eval/report.ts";
import { escapeHtml } from "../../report/text.ts";
import { formatCount } from "../../terminal/progress.ts";
import { failedChecks, foundText, isMissing, namedText, rankText, runsText } from "../words.ts";

const tones = {
  passed: "ok",
  failed: "bad",
  flaky: "warn",
  error: "warn",
  skipped: "soft",
} as const;

const path = (text: string): string => `<span class="path">${escapeHtml(text)}</span>`;

function namedItems(of: ReportedCase): string {
  const isJudged = of.outcome !== "error" && of.outcome !== "skipped";
  const item = (kind: string, named: ReportedCase["unwanted"][number], note: string): string => {
    const rank = isJudged ? `<span class="rank">${note}${rankText(named, of)}</span>` : "";
    return `<li${isJudged ? ` class="${kind}"` : ""}>${path(namedText(named))}${rank}</li>`;
  };
  const expected = of.expected.map((each) => item(isMissing(each, of) ? "miss" : "hit", each, ""));
  const unwanted = of.unwanted.map((each) =>
    item(isMissing(each, of) ? "hit" : "miss", each, "unwanted, "),
  );
  return [...expected, ...unwanted].join("") || '<li class="soft">no document</li>';
}

const roleClasses = { expected: "hit", unwanted: "miss" } as const;

function foundItem(each: ReportedDocument, index: number, of: ReportedCase): string {
  const isBeyond = of.k !== undefined && index >= of.k;
  const classes = [each.role === null ? "" : roleClasses[each.role], isBeyond ? "beyond" : ""];
  const name = classes.join(" ").trim();
  const title =
    each.title === null || each.title === foundText(each)
      ? ""
      : `<b>${escapeHtml(each.title)}</b> `;
  const role = each.role === null ? "" : `<span class="rank">${each.role}</span>`;
  const snippet =
    each.snippet === null ? "" : `<span class="snippet">${escapeHtml(each.snippet)}</span>`;
  return `<li${name === "" ? "" : ` class="${name}"`}>${index + 1}. ${title}${path(foundText(each))}${role}${snippet}</li>`;
}

/** Retrieved documents; of those beyond k only the ones that the case names. */
function foundItems(documents: readonly ReportedDocument[], of: ReportedCase): string {
  const items = documents.flatMap((each, index) =>
    of.k === undefined || index < of.k || each.role !== null ? [foundItem(each, index, of)] : [],
  );
  return items.join("") || '<li class="soft">nothing</li>';
}

function part(title: string, html: string): string {
  return html === "" ? "" : `<div class="more"><h3>${title}</h3>${html}</div>`;
}

function answerOf({ runs, outcome }: ReportedCase): string {
  const run =
    runs.find((each) => each.outcome === outcome) ?? runs.find((each) => each.outcome === "failed");
  return run?.answer === undefined ? "" : `<pre>${escapeHtml(run.answer)}</pre>`;
}

function bodyOf(of: ReportedCase): string {
  const checks = failedChecks(of).map((text) => `<li>${escapeHtml(text)}</li>`);
  const cited = of.cited.map((each) => `<li>${path(foundText(each))}</li>`);
  const isAsked = of.outcome !== "error" && of.outcome !== "skipped";
  const found = isAsked
    ? `<ol>${foundItems(of.retrieved, of)}</ol>`
    : '<p class="soft">not known</p>';
  const facts = [
    `<span class="path">${escapeHtml(`${of.place.file}:${of.place.line}`)}</span>`,
    ...(of.profile === null ? [] : [`asked as ${escapeHtml(of.profile)}`]),
    ...(runsText(of) === "" ? [] : [runsText(of)]),
  ];
  return [
    of.reason === null ? "" : `<p class="more">${escapeHtml(of.reason)}</p>`,
    `<div class="sides"><div><h3>Expected</h3><ul>${namedItems(of)}</ul></div><div><h3>Retrieved</h3>${found}</div></div>`,
    part("Failed expectations", checks.length === 0 ? "" : `<ul>${checks.join("")}</ul>`),
    part("Answer", answerOf(of)),
    part("Cited", cited.length === 0 ? "" : `<ul>${cited.join("")}</ul>`),
    `<p class="more soft">${facts.join(" · ")}</p>`,
  ].join("\n");
}

function caseCard(of: ReportedCase, isOpen: boolean): string {
  const missing =
    of.outcome === "error" ? undefined : of.expected.find((each) => isMissing(each, of));
  const where =
    missing === undefined || of.outcome === "passed" ? "" : `<br>${path(namedText(missing))}`;
  return `<details class="case"${isOpen ? " open" : ""}><summary><span class="pill ${tones[of.outcome]}">${of.outcome}</span><span><span class="q">${escapeHtml(of.question)}</span> <span class="soft">${escapeHtml(of.id)}</span>${where}</span></summary>
${bodyOf(of)}</details>`;
}

/** Open cards at the top of a list; the others are folded. */
const openCards = 10;

/**
 * A list of cases with a card each: question, expected and retrieved documents side by side. `kind`
 * is the name that the filter knows. Empty without cases.
 */
export function* casesSection(
  kind: string,
  title: string,
  cases: readonly ReportedCase[],
): Generator<string> {
  if (cases.length === 0) return;
  const opens = kind === "passed" || kind === "skipped" ? 0 : openCards;
  yield `<section class="list of-${kind}"><h2>${escapeHtml(title)}: ${formatCount(cases.length)}</h2>\n`;
  for (const [index, each] of cases.entries()) yield `${caseCard(each, index < opens)}\n`;
  yield "</section>\n";
}
