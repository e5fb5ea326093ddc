import type { PageRule } from "../../rule.ts";
import { fileInOtherCase } from "../../links/other-case.ts";
import { pageBody } from "../../links/page-body.ts";
import { hasLinks, linksOf, shownAddress } from "../../links/page-links.ts";

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
      const file = fileInOtherCase(page, target.replace(/[?#][^]*$/, ""));
      const hint = file === undefined ? "" : `; only capital letters differ from ${file}`;
      const message = `the link leads to no file: ${shownAddress(target)}${hint}`;
      yield { span: body.spanOf(start, end), message };
    }
  },
};
