import { keyOf, spanOfKey } from "../page/body.ts";
import type { LintPage, PageRule } from "../rule.ts";
import { quoted } from "../page/spans.ts";
import { isMap, type Value } from "../../../documents/front-matter/values.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { restricts } from "../../../documents/payload/access.ts";

// Somewhere it is already tomorrow, and a date has no time zone.
const slackMs = 36 * 3_600_000;

export const openFrontMatter: PageRule = {
  kind: "page",
  name: "open-front-matter",
  group: "metadata",
  severity: "warning",
  summary: "The front matter has no closing line",
  advice:
    "Its keys have no effect, and are sent as text of the page. Write the line that opens it once more, after the last key.",
  bad: "---\nteam: facilities\n\nThe desk on floor 1 is open from 8:00 to 17:00 on working days.\n",
  good: "---\nteam: facilities\n---\n\nThe desk on floor 1 is open from 8:00 to 17:00 on working days.\n",
  *check({ parsed, source }) {
    if (parsed.frontMatter || !parsed.isMarkdown) return;
    // Without a key below it, the line is a rule between two parts of the text.
    const opening = /^\uFEFF?(---|\+\+\+)[^\S\n]*\n[\w-]+(?::[^\S\n]|:\n|[^\S\n]*=)/.exec(
      source ?? "",
    );
    if (!opening) return;
    const [, fence = ""] = opening;
    const start = opening[0].indexOf(fence);
    yield {
      message: `${fence} opens front matter that is never closed`,
      span: { start, end: start + fence.length },
    };
  },
};

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

/**
 * Keys that tell a site generator how to make the page: nobody filters by them. Docs of VitePress
 * ("Frontmatter Config"), Hugo ("Front matter"), Docusaurus, Starlight, MkDocs Material, Jekyll,
 * Eleventy, Quarto ("HTML options") and MyST ("Frontmatter").
 */
const siteKeys = new Set(
  (
    "head hero features actions resources cascade menu menus outputs sitemap build params sidebar banner nav navigation " +
    "pagination prev next layout meta links scripts css hide social comments defaults redirect_from redirects " +
    "eleventyNavigation eleventyComputed format execute listing about website book kernelspec jupytext jupyter myst exports " +
    "downloads thebe parts funding affiliations bibliography abbreviations jsonld schema toc sections blocks cssclasses"
  ).split(" "),
);

// observed-service.md 3.2: key and value together.
const longest = 255;
/** Metadata that nobody filters by: texts for readers and search engines. */
export const prose =
  /(?:^|[._-])(?:description|summary|abstract|excerpt|lead|subtitle|teaser|intro)$/i;

/** Whether the templates of a site show the front matter: cards, menus, texts for their pages. */
function hasTemplates({ path, settings }: LintPage): boolean {
  const generator = siteOf(path, settings)?.generator;
  return generator !== undefined && generator !== "obsidian";
}

export const longTag: PageRule = {
  kind: "page",
  name: "long-tag",
  group: "metadata",
  severity: "warning",
  summary: `A metadata key and its value are longer than ${longest} characters together`,
  advice:
    "The service stores it and no filter finds it, without an error. Write a shorter value, or a list of shorter ones. " +
    "Keys for texts, such as `description`, are not reported: nobody filters by them. " +
    "Nor are pages of a site generator: its templates show what stands there.",
  bad: `---\nteam: ${"facilities and services ".repeat(11)}\n---\n\nThe desk on floor 1 is open from 8:00 to 17:00 on working days.\n`,
  good: "---\nteam: facilities and services\n---\n\nThe desk on floor 1 is open from 8:00 to 17:00 on working days.\n",
  *check(page) {
    if (hasTemplates(page)) return;
    for (const [key, value] of Object.entries(page.document?.metadata ?? {})) {
      const [name = ""] = key.split(".", 1);
      if (prose.test(key) || siteKeys.has(name)) continue;
      // The rule metadata-not-text is about these.
      if (listOfObjects(name, page.parsed.frontMatter?.data[name] ?? null) !== undefined) continue;
      const values = typeof value === "string" ? [value] : value;
      const long = values.find((each) => key.length + each.length > longest);
      if (long === undefined) continue;
      const top = keyOf(page, [key, key.split(".", 1)[0] ?? ""]);
      yield {
        message: `${key} has ${key.length + long.length} characters with its value, and a filter finds at most ${longest}: ${quoted(long)}`,
        span: top === undefined ? undefined : spanOfKey(page, top),
      };
    }
  },
};

/** The first list with an object or a list in it: its path from the key, `hero.actions`. */
function listOfObjects(name: string, value: Value): string | undefined {
  if (Array.isArray(value)) {
    const isNested = value.some((each) => Array.isArray(each) || (each !== null && isMap(each)));
    return isNested ? name : undefined;
  }
  if (value === null || !isMap(value)) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = listOfObjects(`${name}.${key}`, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const metadataNotText: PageRule = {
  kind: "page",
  name: "metadata-not-text",
  group: "metadata",
  severity: "note",
  summary: "A list in the front matter has objects or lists as items",
  advice:
    "The service stores text. Such an item is sent as JSON text, and no filter finds it. " +
    "Write a list of words, or an object without a list: `lead.name` becomes a key of its own. " +
    "Pages of a site generator are not reported: its templates need such lists.",
  bad: "---\ncontacts:\n  - name: Ada\n    room: 12\n---\n\nThe library lends books for four weeks. You return them on level 1.\n",
  good: "---\ncontacts:\n  - Ada\n---\n\nThe library lends books for four weeks. You return them on level 1.\n",
  *check(page) {
    const data = page.parsed.frontMatter?.data;
    if (!data || !page.document) return;
    if (hasTemplates(page)) return;
    const { metadata } = page.document;
    for (const [key, value] of Object.entries(data)) {
      if (value === null || typeof value !== "object" || siteKeys.has(key)) continue;
      const name = listOfObjects(key, value);
      // A key with a meaning of its own is no metadata.
      if (name === undefined || !Object.hasOwn(metadata, name)) continue;
      yield {
        message: `${name} is a list of objects or lists, which are sent as JSON text`,
        span: spanOfKey(page, key),
      };
    }
  },
};

export const ownerWithoutEmail: PageRule = {
  kind: "page",
  name: "owner-without-email",
  group: "metadata",
  severity: "note",
  summary: "An owner has no mail address",
  advice:
    "A name alone does not tell readers whom to ask, and two people can share it. " +
    "Write `Ada Example <ada@example.com>`.",
  bad: "---\nowner: Ada\n---\n\nThe garage has 40 places. A place costs 80 euros a month.\n",
  good: "---\nowner: Ada Example <ada@example.com>\n---\n\nThe garage has 40 places. A place costs 80 euros a month.\n",
  *check(page) {
    const { document, settings } = page;
    if (!document) return;
    const { primary_owners: primary = [], secondary_owners: secondary = [] } = document;
    // Authors are not asked to answer: a blog names them without an address.
    const { owners, secondaryOwners } = settings.keys;
    for (const [list, keys] of [
      [primary, owners],
      [secondary, secondaryOwners],
    ] as const) {
      const owner = list.find((each) => !each.email?.includes("@"));
      if (!owner) continue;
      const { display_name: display, first_name: first, last_name: last } = owner;
      const name = display ?? [first, last].filter((each) => each !== undefined).join(" ");
      const key = keyOf(page, keys);
      // Owners of CODEOWNERS have their place in another file.
      if (key === undefined) continue;
      yield {
        message: `the owner ${quoted(name)} has no mail address`,
        span: spanOfKey(page, key),
      };
    }
  },
};

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

export const accessWithoutEffect: PageRule = {
  kind: "page",
  name: "access-without-effect",
  group: "access",
  severity: "warning",
  summary: "A key of the front matter seems to restrict who can read the page, and has no effect",
  advice:
    "The pair alone decides who can read a document; the key becomes metadata. " +
    "Send the page to a pair with this access, or exclude it. " +
    "If your keys mean something else, name yours in `ingest.accessKeys`.",
  bad: "---\nvisibility: managers\n---\n\nBonuses are paid in March. Your manager tells you the amount in February.\n",
  good: "---\nvisibility: public\n---\n\nBonuses are paid in March. Your manager tells you the amount in February.\n",
  *check(page) {
    const { document, parsed, settings } = page;
    const data = parsed.frontMatter?.data;
    if (!document || !data) return;
    for (const key of settings.accessKeys) {
      if (!Object.hasOwn(data, key) || !restricts(data[key])) continue;
      yield {
        message: `${key} has no effect: the pair alone decides who can read the page`,
        span: spanOfKey(page, key),
      };
    }
  },
};
