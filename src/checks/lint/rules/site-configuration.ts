import { configOf } from "../../../documents/site/config.ts";
import { siteOf, siteText } from "../../../documents/site/sites.ts";
import type { FolderRule } from "../rule.ts";

interface BrokenSite {
  site: string;
  /** `docs/mkdocs.yml:3: …`; the line is missing where nobody knows it. */
  problem: string;
}

const placed = /^(.+?)(?::(\d+))?: ([^]*)$/;

/** The configuration of a site that cannot be read: one finding, at its line. */
export const siteConfiguration: FolderRule<BrokenSite> = {
  kind: "folder",
  name: "site-configuration",
  group: "links",
  severity: "warning",
  summary: "The configuration of the site cannot be read",
  advice:
    "What it says about addresses, folders and variables is unknown to an upload, so links of citations may be wrong. " +
    "Correct the line that the finding names.",
  bad: "<!-- file: mkdocs.yml -->\nsite_name: Handbook\nnav: [leave.md\n\n<!-- file: docs/leave.md -->\n# Leave\n\nAsk for leave in the portal, two weeks ahead.\n",
  good: "<!-- file: mkdocs.yml -->\nsite_name: Handbook\nnav: [leave.md]\n\n<!-- file: docs/leave.md -->\n# Leave\n\nAsk for leave in the portal, two weeks ahead.\n",
  collect({ path, settings }) {
    const site = siteOf(path, settings);
    if (!site) return undefined;
    const { problem } = configOf(site, settings);
    return problem === undefined ? undefined : { site: siteText(site), problem };
  },
  *compare(facts) {
    const known = new Set<string>();
    for (const { fact } of facts) {
      const [, path, line, problem] = placed.exec(fact.problem) ?? [];
      if (path === undefined || known.has(fact.problem)) continue;
      known.add(fact.problem);
      const row = line === undefined ? undefined : { line: Number(line), id: "" };
      const message = `the configuration of ${fact.site} cannot be read: ${problem}`;
      yield { path, part: 0, row, message };
    }
  },
};
