import { countOf, formatCount } from "../../terminal/progress.ts";
import { reasonOf, type FailureGroup, type GroupedFailures } from "../ci/groups.ts";
import type { ReportFailure } from "../record.ts";
import { bareReason, escapeHtml, placeOf } from "../text.ts";

const maxGroups = 100;

/** The id, unless it is only a prefix and the path. */
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

/** The failures, grouped by reason; long groups are folded. Empty without failures. */
export function failuresSection({ groups, count, shown }: GroupedFailures): string {
  if (count === 0) return "";
  const parts = groups
    .slice(0, maxGroups)
    .map((group) => groupPart(group, count <= 50 || group.count <= 5));
  const hiddenGroups = groups.length - maxGroups;
  if (hiddenGroups > 0) {
    parts.push(`<p class="soft">and ${countOf(hiddenGroups, "more reason")}</p>`);
  }
  const more =
    count > shown
      ? `<p class="soft">Only the first ${formatCount(shown)} failures are listed; the JSON report contains ${formatCount(count - shown)} more.</p>`
      : "";
  return `<section><h2>${countOf(count, "failure")}, by reason</h2>${parts.join("\n")}${more}</section>`;
}
