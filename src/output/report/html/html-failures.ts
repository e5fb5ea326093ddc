import { countOf, formatCount } from "../../terminal/progress.ts";
import { reasonOf, type FailureGroup, type GroupedFailures } from "../groups.ts";
import type { ReportFailure } from "../record.ts";
import { bareReason, escapeHtml, placeOf } from "../text.ts";

const groupsShown = 100;

/** The id where it says more than the path: ids made of a prefix and the path do not. */
export function ownId(path: string, id: string | undefined): string | undefined {
  return id === undefined || id.endsWith(path) ? undefined : id;
}

function failureLine(failure: ReportFailure, isAlone: boolean): string {
  const { status } = failure;
  const id = ownId(failure.path, failure.id);
  const tags = [
    id === undefined ? "" : `<span class="tag">${escapeHtml(id)}</span>`,
    status === undefined ? "" : `<span class="tag">HTTP ${status}</span>`,
    failure.retryable ? '<span class="tag">may succeed later</span>' : "",
  ];
  const reason = isAlone ? "" : `<br><span class="soft">${escapeHtml(bareReason(failure))}</span>`;
  return `<li><span class="path">${escapeHtml(placeOf(failure))}</span>${tags.join("")}${reason}</li>`;
}

function groupPart(group: FailureGroup, isOpen: boolean): string {
  const lines = group.failures.map((each) => failureLine(each, reasonOf(each) === group.reason));
  const hidden = group.count - group.failures.length;
  if (hidden > 0) lines.push(`<li class="soft">and ${formatCount(hidden)} more</li>`);
  return `<details${isOpen ? " open" : ""}><summary><b>${formatCount(group.count)}</b>${escapeHtml(group.reason)}</summary><ul>
${lines.join("\n")}</ul></details>`;
}

/** The failures, grouped by reason; long groups are folded. Empty when there are none. */
export function failuresSection({ groups, count, shown }: GroupedFailures): string {
  if (count === 0) return "";
  const parts = groups
    .slice(0, groupsShown)
    .map((group) => groupPart(group, count <= 50 || group.count <= 5));
  const hiddenGroups = groups.length - groupsShown;
  if (hiddenGroups > 0) {
    parts.push(`<p class="soft">and ${countOf(hiddenGroups, "more reason")}</p>`);
  }
  const more =
    count > shown
      ? `<p class="soft">The first ${formatCount(shown)} are listed, and ${formatCount(count - shown)} more in the JSON report.</p>`
      : "";
  return `<section><h2>${countOf(count, "failure")}, by reason</h2>${parts.join("\n")}${more}</section>`;
}
