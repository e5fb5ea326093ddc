import { keyOf, spanOfKey } from "../../page/keys.ts";
import type { PageRule } from "../../rule.ts";

// Somewhere it is already tomorrow, and a date has no time zone.
const slackMs = 36 * 3_600_000;

export const futureDate: PageRule = {
  kind: "page",
  name: "future-date",
  group: "metadata",
  severity: "warning",
  summary: "The date of the page lies in the future",
  advice:
    "Searches with a time limit go by this date, and readers see it. Write the day of the last change.",
  bad: "---\nupdated: 2999-01-31\n---\n\nThe canteen serves lunch from 11:30 to 13:30 on working days.\n",
  good: "---\nupdated: 2024-01-31\n---\n\nThe canteen serves lunch from 11:30 to 13:30 on working days.\n",
  *check(page) {
    const date = page.document?.doc_updated_at;
    if (date === undefined || Date.parse(date) <= Date.now() + slackMs) return;
    const key = keyOf(page, page.settings.keys.updatedAt);
    yield {
      message: `${key ?? "the date"} is in the future: ${date.slice(0, 10)}`,
      span: key === undefined ? undefined : spanOfKey(page, key),
    };
  },
};
