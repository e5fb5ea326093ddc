import type { FolderRule, LintPage, PageFact, PageRule, Rule } from "../rule.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { textOf } from "../../../documents/front-matter/values.ts";
import { type Body, bodyOf, hasWords, piecesOutside } from "../page/body.ts";
import { withoutExtension } from "../../../documents/files/file-name.ts";
import { fewWords, isForPrograms, isMoved } from "./little-text.ts";
import {
  commonFolder,
  documentName,
  findRepeated,
  haveSameName,
  isNamedByFile,
  isPost,
  languageOf,
  versionOf,
} from "../folder.ts";

// observed-service.md 3.3: a space becomes "_". The percent-encoding after that keeps ids apart.
const withoutSpaces = (id: string): string => id.toWellFormed().replaceAll(" ", "_");

/** Different ids that the service stores as one. */
export const collidingId: FolderRule<string> = {
  kind: "folder",
  name: "colliding-id",
  group: "identity",
  severity: "warning",
  summary: "The ids of two documents differ only in spaces and underscores",
  advice:
    "The service stores each space of an id as `_`. Both documents get the same stored id, and one " +
    "overwrites the other. Rename one of the files, or set another `id`.",
  bad: "<!-- file: leave days.md -->\n# Leave days\n\n<!-- file: leave_days.md -->\n# Leave days of 2023\n",
  good: "<!-- file: leave days.md -->\n# Leave days\n\n<!-- file: leave-days-2023.md -->\n# Leave days of 2023\n",
  // Ids without these characters are stored as they are: most of them need not be kept.
  collect: ({ document }) =>
    document && /[ _\p{Cs}\ufffd]/u.test(document.id) ? document.id : undefined,
  *compare(facts) {
    for (const [later, first] of findRepeated(facts, ({ fact }) => withoutSpaces(fact))) {
      if (later.fact === first.fact) continue;
      const { path, part, row } = later;
      const message = `the service stores the document under the id of ${documentName(first)}`;
      yield { path, part, row, message };
    }
  },
};

/** Documents with one id would overwrite each other. */
export const duplicateId: FolderRule<string> = {
  kind: "folder",
  name: "duplicate-id",
  group: "identity",
  severity: "warning",
  summary: "Two documents have the same id",
  advice:
    "`ingest` refuses to send both: the second document would overwrite the first one. Set an id in one " +
    "of the pages that no other page has, or remove the `id` so that the path becomes the id.",
  bad: "<!-- file: leave.md -->\n---\nid: people\n---\n# Leave\n\n<!-- file: travel.md -->\n---\nid: people\n---\n# Travel\n",
  good: "<!-- file: leave.md -->\n---\nid: leave\n---\n# Leave\n\n<!-- file: travel.md -->\n---\nid: travel\n---\n# Travel\n",
  collect: ({ document }) => document?.id,
  *compare(facts) {
    for (const [later, first] of findRepeated(facts, ({ fact }) => fact)) {
      const { path, part, row } = later;
      const message = `the document has the id of ${documentName(first)}; ingest refuses to send both`;
      yield { path, part, row, message };
    }
  },
};

// A translation or another version of a page has the same title for a reason.
const keyOf = ({ path, fact }: PageFact<string>): string =>
  `${languageOf(path)}\n${versionOf(path)}\n${fact.toLowerCase()}`;

const countOfDocuments = (count: number): string =>
  count === 1 ? "1 more document" : `${count} more documents`;

type Title = PageFact<string>;

// A copy of a folder, or a reference whose objects have the same members, is one cause.
const mostInFolder = 3;

// Longer titles are shown in part nowhere: redaction could not recognise a truncated key.
const longestShown = 80;

function collect(page: LintPage): string | undefined {
  const title = page.document?.title?.replace(/\s+/g, " ").trim();
  // Other rules report a page without a title, and one without text: a stub that leads to its new place.
  if (!title || isNamedByFile(page)) return undefined;
  return page.part === 0 && (fewWords(page) !== undefined || isMoved(page)) ? undefined : title;
}

/** Documents that a list of sources cannot tell apart. */
export const duplicateTitle: FolderRule<string> = {
  kind: "folder",
  name: "duplicate-title",
  group: "identity",
  severity: "note",
  summary: "Two documents have the same title",
  advice:
    "Search results and citations show the title. Readers cannot tell the documents apart, and neither " +
    "can a model. Add what the page is about: `Overview of travel` instead of `Overview`. " +
    "Translations and versions in folders of their own are not compared. A folder with more than three such " +
    "titles of files with the same name has one finding.",
  bad: "<!-- file: leave.md -->\n# Overview\nAsk for leave in the portal, at least two weeks before the first day.\n<!-- file: travel.md -->\n# Overview\nBook trips in the portal, at least one week before the first day.\n",
  good: "<!-- file: leave.md -->\n# Leave at a glance\nAsk for leave in the portal, at least two weeks before the first day.\n<!-- file: travel.md -->\n# Travel at a glance\nBook trips in the portal, at least one week before the first day.\n",
  collect,
  *compare(facts) {
    const others = new Map<PageFact<string>, PageFact<string>[]>();
    for (const [later, first] of findRepeated(facts, keyOf)) {
      // A page and its notebook: one document in two formats, which near-duplicate reports.
      const isSame = withoutExtension(later.path) === withoutExtension(first.path);
      if (isSame && later.path !== first.path) continue;
      // Their days tell them apart.
      if (isPost(later.path) && isPost(first.path)) continue;
      others.set(first, [...(others.get(first) ?? []), later]);
    }
    const ofFolders = new Map<string, number>();
    const folderOf = (first: Title, second: Title): string | undefined =>
      haveSameName(first.path, second.path) ? commonFolder(first.path, second.path) : undefined;
    for (const [first, [second]] of others) {
      const folder = second && folderOf(first, second);
      if (folder !== undefined) ofFolders.set(folder, (ofFolders.get(folder) ?? 0) + 1);
    }
    // One finding for each title: a site whose pages share one has one cause.
    for (const [first, [second, ...more]] of others) {
      if (!second) continue;
      const folder = folderOf(first, second);
      const count = (folder !== undefined && ofFolders.get(folder)) || 0;
      if (folder !== undefined && count > mostInFolder) {
        ofFolders.set(folder, -1);
        const { path, part, row } = second;
        const where = folder === "" ? "" : ` in ${folder}`;
        const message = `${count} titles${where} are those of several documents with the same name; this is the first, also in ${documentName(first)}`;
        yield { path, part, row, message };
      }
      if (count > mostInFolder || count < 0) continue;
      const { path, part, row, fact } = second;
      const title = fact.length > longestShown ? "" : ` "${fact}"`;
      const whose = documentName(first);
      const rest = more.length === 0 ? "" : ` and ${countOfDocuments(more.length)}`;
      yield { path, part, row, message: `the title${title} is also that of ${whose}${rest}` };
    }
  },
};

// What editors write into the properties of a file, and names that every folder has.
const license = /(?:^|\/)(?:licen[cs]e|copying|notice|authors)(?:[-.]\w+)*$/i;
/** Whether the name of a file says as much as a title: `Annual-Report-2024.pdf`. */
function isSpeaking(path: string): boolean {
  const words = path.slice(path.lastIndexOf("/") + 1).match(/[\p{L}\p{N}]+/gu) ?? [];
  // The last one is the extension.
  return words.filter((each) => /\p{L}{2}/u.test(each)).length > 2;
}

// jekyllrb.com, "Front Matter": a page without a layout is a part of another one.
const isFragment = ({ parsed }: LintPage): boolean => {
  const data = parsed.frontMatter?.data ?? {};
  return (
    Object.hasOwn(data, "layout") && /^(?:null|nil|none|false|~)?$/.test(textOf(data.layout) ?? "")
  );
};
const empty = /^(?:untitled(?: document)?|(?:microsoft word - .*)|no title|document\d+|readme)$/i;

/**
 * Whether the name is the title by the rules of the site: the file name of a note in Obsidian, the
 * navigation in MkDocs ("Writing your docs > Meta-data"); of plain text, which has no headings;
 * of workbooks, where nobody sets a title, and of PDF files whose name says as much; and of licences.
 */
function isNamedOnPurpose(page: LintPage): boolean {
  const { path, settings } = page;
  const generator = siteOf(path, settings)?.generator;
  const format = formatOf(path, settings.format);
  return (
    generator === "obsidian" ||
    generator === "mkdocs" ||
    format === formats.text ||
    format === formats.xlsx ||
    (format === formats.pdf && isSpeaking(path)) ||
    (generator === "jekyll" && isFragment(page)) ||
    license.test(path)
  );
}

/** Whether a page is nothing but code. */
function isCodeAlone({ text, structure }: Body): boolean {
  const pieces = piecesOutside(text, structure?.opaque);
  return pieces.length > 1 && !pieces.some((each) => hasWords(each));
}

function problemOf(page: LintPage, title: string): string | undefined {
  const { path, part } = page;
  if (page.parsed.isSlide) return undefined;
  if (isForPrograms(page)) return undefined;
  // The rule empty reports a page without a word.
  if (fewWords(page) === 0 && !hasWords(bodyOf(page).text)) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (empty.test(title)) return "the title does not say what the page is about";
  if (title.toLowerCase() === name.toLowerCase()) return "the title is only the name of the file";
  if (!isNamedByFile(page) || isNamedOnPurpose(page)) return undefined;
  // A part of a page of a program.
  if (siteOf(path, page.settings) !== undefined && isCodeAlone(bodyOf(page))) return undefined;
  return part === 0
    ? "the page has no title, and the name of the file replaces it"
    : `${documentName(page)} has no title, and the name of the file replaces it`;
}

/** A document whose title says no more than its file name. */
export const missingTitle: PageRule = {
  kind: "page",
  name: "missing-title",
  group: "identity",
  severity: "note",
  summary: "The title is missing, or only the file name",
  advice:
    "Search weighs the title, and citations show it. Write a heading of level 1 or `title` in the front " +
    "matter that says what the page is about. For rows, name the column: `--map title=COLUMN`. " +
    "A folder whose pages have no titles has one finding.",
  bad: "Employees get 28 days of leave.\n",
  good: "# Leave of employees\n\nEmployees get 28 days of leave.\n",
  ignoresParts: true,
  ofMost: (count) => `${count} documents have no title, and the names of their files replace it`,
  *check(page) {
    // All rows of a file have the same columns.
    const title = page.part > 1 ? undefined : page.document?.title;
    const message = typeof title === "string" ? problemOf(page, title) : undefined;
    if (message !== undefined) yield { message };
  },
};

/** The rules on ids and titles. */
export const identityRules: readonly Rule[] = [
  duplicateId,
  collidingId,
  missingTitle,
  duplicateTitle,
];
