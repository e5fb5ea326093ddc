import { keyOf, spanOfKey } from "../../page/keys.ts";
import type { PageRule } from "../../rule.ts";

const defaultDays = 365;
const dayMs = 24 * 3_600_000;

export const staleDate: PageRule = {
  kind: "page",
  name: "stale-date",
  group: "metadata",
  severity: "note",
  summary: "The date of the page is more than a year older than the last commit of its file",
  advice:
    "Searches with a time limit go by this date: they miss a page that is maintained. " +
    "Update the date with the text, or remove it and set `ingest.updatedAt` to `git`. `lint.staleDays` sets another time than a year. The rule needs a git repository.",
  bad: "---\nupdated: 2019-01-31\n---\n\nThe canteen serves lunch from 11:30 to 13:30 on working days.\n",
  good: "---\nupdated: 2026-01-31\n---\n\nThe canteen serves lunch from 11:30 to 13:30 on working days.\n",
  *check(page) {
    const date = page.document?.doc_updated_at;
    const commit = page.facts?.commit?.date;
    if (date === undefined || commit === undefined) return;
    const key = keyOf(page, page.settings.keys.updatedAt);
    const days = Math.floor((Date.parse(commit) - Date.parse(date)) / dayMs);
    if (key === undefined || days <= (page.staleDays ?? defaultDays)) return;
    yield {
      message: `${key} is ${date.slice(0, 10)}, and the last commit is ${days} days newer (${commit.slice(0, 10)})`,
      span: spanOfKey(page, key),
    };
  },
};
