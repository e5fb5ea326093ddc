import { posix } from "node:path";
import type { LintPage, PageRule } from "../../rule.ts";
import { inOtherCase } from "../../../../documents/links/names.ts";
import { pageBody } from "../../links/page-body.ts";
import { hasLinks, linksOf, shownAddress } from "../../links/page-links.ts";

/** The file that a dead link names but for capital letters: the link works on Windows and macOS alone. */
function fileOfTarget({ path: from, settings }: LintPage, target: string): string | undefined {
  const path = target.replace(/[?#][^]*$/, "");
  const wanted = posix.normalize(posix.join(posix.dirname(from), path));
  return wanted.startsWith("../") ? undefined : inOtherCase(wanted, settings);
}

/** Lists what an upload counts as dead links. */
export const deadLink: PageRule = {
  kind: "page",
  name: "dead-link",
  group: "links",
  severity: "warning",
  summary: "A relative link leads to no file of the project",
  advice:
    "An answer that cites the page sends its reader to an error page. Correct the path of the link; " +
    "capital letters count. " +
    "Write the full address if the page is on another site.",
  bad: "# Leave\n\nAsk for leave in the [travel form](forms/travle.md).\n",
  good: "# Leave\n\nAsk for leave in the [travel form](https://forms.example.com/travel).\n",
  *check(page) {
    if (!hasLinks(page)) return;
    const body = pageBody(page);
    for (const { resolved, start, end, target } of linksOf(page).relative) {
      if (resolved.kind !== "dead") continue;
      const file = fileOfTarget(page, target);
      const hint = file === undefined ? "" : `; only capital letters differ from ${file}`;
      const message = `the link leads to no file: ${shownAddress(target)}${hint}`;
      yield { span: body.spanOf(start, end), message };
    }
  },
};
