import { posix } from "node:path";
import { chaptersIn } from "../../site/quarto.ts";
import type { SiteEntry } from "../format.ts";
import { destination } from "../markdown/blocks.ts";
import type { Fences } from "./fence.ts";
import type { MystPage, Titled } from "./page.ts";

// quarto.org, "Cross References" and "Theorems and Proofs".
const kinds: Readonly<Record<string, string>> = {
  fig: "Figure",
  tbl: "Table",
  lst: "Listing",
  eq: "Equation",
  sec: "Section",
  thm: "Theorem",
  lem: "Lemma",
  cor: "Corollary",
  prp: "Proposition",
  cnj: "Conjecture",
  def: "Definition",
  exm: "Example",
  exr: "Exercise",
  nte: "Note",
  tip: "Tip",
  wrn: "Warning",
  imp: "Important",
  cau: "Caution",
};
const label = `(?:${Object.keys(kinds).join("|")})-[\\w.:-]{0,99}\\w`;
const fenceMarks = /^[ \t>]*(`{3,}|~{3,})(.*)$/;
const cellOption = new RegExp(`^[ \\t]*(?:#|//|--|%%?)\\|[ \\t]*(?:lst-)?label:[ \\t]*(${label})`);
const cellCaption = /^[ \t]*(?:#|\/\/|--|%%?)\|[ \t]*(?:fig|tbl|lst)[-.]cap:/;
const chunkLabel = new RegExp(`^\\{\\w+[ ,]+(?:label[ ]*=[ ]*)?["']?(${label})`);
const ownId = new RegExp(`\\{[^{}#]{0,200}#(${label})[^{}]{0,500}\\}`, "g");
const heading = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const unnumbered = /\{[^{}]*(?:\.unnumbered|(?<![^ {])-(?=[ }]))[^{}]*\}[ \t]*$/;
const div = /^[ \t]*:{3,}[ \t]*(\S)?/;
const longestLine = 1000;

/** A place of a page by its label, and its number there: `Figure 2`, `Figure 2 (a)`, `Section 1.2`. */
interface Place {
  name: string;
  title: string;
}

/** Numbers places in their order; those within one of their kind have letters. */
function createNumbers() {
  const counts = new Map<string, number>();
  const levels: number[] = [];
  return {
    addHeading(level: number): void {
      levels.length = level;
      for (let at = 0; at < level; at++) levels[at] ??= 0;
      levels[level - 1] = (levels[level - 1] ?? 0) + 1;
    },
    place(name: string, within: Place | undefined): Place {
      const kind = name.replace(/-.*/, "");
      const title = kinds[kind] ?? "";
      if (kind === "sec") return { name, title: `${title} ${levels.join(".")}` };
      const inner = within?.name.startsWith(`${kind}-`) === true ? within : undefined;
      const key = inner ? `in ${inner.name}` : kind;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (!inner) return { name, title: `${title} ${count}` };
      return { name, title: `${inner.title} (${String.fromCharCode(96 + Math.min(count, 26))})` };
    },
  };
}

/** The places of a page that references can name. */
function* placesIn(text: string): Generator<Place> {
  const numbers = createNumbers();
  const open: (Place | undefined)[] = [];
  let fence: string | undefined;
  // A figure of a cell has no number without a caption.
  let cell: string | undefined;
  let hasCaption = false;
  for (const line of text.split("\n")) {
    if (line.length > longestLine) continue;
    const [, marks, info = ""] = fenceMarks.exec(line) ?? [];
    if (fence !== undefined) {
      cell ??= cellOption.exec(line)?.[1];
      hasCaption ||= cellCaption.test(line);
      if (marks?.startsWith(fence) !== true || info.trim() !== "") continue;
      fence = undefined;
      if (cell !== undefined && hasCaption) yield numbers.place(cell, open.at(-1));
      continue;
    }
    if (marks !== undefined) {
      fence = marks;
      cell = chunkLabel.exec(info.trim())?.[1];
      hasCaption = /\bcap[ \t]*=/.test(info);
    }
    const [, level, title = ""] = heading.exec(line) ?? [];
    if (level !== undefined && !unnumbered.test(title)) numbers.addHeading(level.length);
    const found = [...line.matchAll(ownId)].map(([, name = ""]) =>
      numbers.place(name, open.at(-1)),
    );
    yield* found;
    const isDiv = line.includes(":::") ? div.exec(line) : null;
    if (isDiv && isDiv[1] === undefined) open.pop();
    else if (isDiv && open.length < 100) open.push(found[0] ?? open.at(-1));
  }
}

/** The places of a page, and the page itself by its path, with a title where it is a numbered chapter. */
export function* quartoEntries(
  text: string,
  path: string,
  folder: string,
): Generator<readonly [string, SiteEntry]> {
  for (const { name, title } of placesIn(text)) yield [name, { path, title }];
  const first = text.split("\n").find((line) => line.startsWith("# ")) ?? "";
  yield [path.slice(folder.length), { path, title: unnumbered.test(first) ? "" : "chapter" }];
}

// Each reference counts them.
const mostChapters = 500;
const placesOfPage = new WeakMap<MystPage, Map<string, string>>();

/** What a reference to a label shows: `Figure 2`, in a book `Figure 3.2`; undefined if it is not known. */
function placeOf({ page, reading }: Fences, name: string): Titled | undefined {
  const { chain, around } = reading;
  const [path = ""] = chain;
  let places = placesOfPage.get(page);
  if (!places) {
    places = new Map([...placesIn(page.source)].map((each) => [each.name, each.title]));
    placesOfPage.set(page, places);
  }
  const own = places.get(name);
  const { prefix = "" } = around.site ?? {};
  const find = (key: string): SiteEntry | undefined => around.includes.find("place", prefix, key);
  const chapters = page.valueOf("book.chapters");
  const address = `#${name}`;
  if (chapters === undefined) {
    return own === undefined ? own : { title: own.replace(/ (?:0\.)+/, " "), address };
  }
  const entry = own === undefined ? find(name) : { path, title: own };
  const files = chaptersIn(chapters).slice(0, mostChapters);
  const at = files.indexOf(entry?.path.slice(prefix.length) ?? "");
  const before = files.slice(0, at + 1).map((each) => find(each)?.title);
  // Of a chapter that is not there, or no text, nobody knows whether it has a number.
  if (!entry || at === -1 || before.includes(undefined)) return undefined;
  const chapter = before.filter((each) => each === "chapter").length;
  const [, kind = "", number = ""] = /^(\w+) (.*)$/.exec(entry.title ?? "") ?? [];
  const isNumbered = before.at(-1) === "chapter";
  if (!isNumbered && kind === "Section") return undefined;
  const isChapter = kind === "Section" && !number.includes(".");
  const inChapter =
    kind === "Section"
      ? number.replace(/^\d+/, String(chapter))
      : isNumbered
        ? `${chapter}.${number}`
        : number;
  const place = own === undefined ? posix.relative(posix.dirname(path), entry.path) : "";
  return {
    title: isChapter ? `Chapter ${chapter}` : `${kind} ${inChapter}`,
    address: place + address,
  };
}

/** `Figure 2: ` before a caption, `(a) ` before that of a part; "" where the number is not known. */
export function captionMark(fences: Fences, name: string): string {
  const title = placeOf(fences, name)?.title;
  return title === undefined ? "" : `${/\(\w\)$/.exec(title)?.[0] ?? `${title}:`} `;
}

const reference = new RegExp(
  `\\[[^[\\]\\n]{0,300}\\]\\(|(?<![!\\\\])\\[([^[\\]\\n]{0,300}?@[^[\\]\\n]{0,300})\\](?![[{:])|(?<![\\w@\\\\/.-])@(${label})`,
  "gi",
);
const cited = new RegExp(`^(?:(.*?)[ \\u00a0])?(-)?@(${label})$`, "i");

/** A part of a reference: `@fig-a`, `-@fig-a`, `Fig. @fig-a`. */
function linkOf(fences: Fences, part: string): string | undefined {
  const [, before, bare, written = ""] = cited.exec(part.trim()) ?? [];
  const name = written.slice(0, 1).toLowerCase() + written.slice(1);
  const found = name === "" ? undefined : placeOf(fences, name);
  if (found?.title === undefined) return undefined;
  const number = found.title.replace(/^\w+ /, "");
  const shown = before ? `${before} ${number}` : bare === undefined ? found.title : number;
  return `[${shown}](${destination(found.address)})`;
}

const captioned = new RegExp(
  `!\\[([^[\\]\\n]{1,500})\\](?=\\([^()\\n]{0,500}\\)\\{[^{}#\\n]{0,200}#(${label})[^{}\\n]{0,500}\\})`,
  "g",
);

/** Text between code with the numbers that Quarto gives its references and captions. */
export function withReferences(fences: Fences, text: string): string {
  const numbered = text.includes("](")
    ? text.replace(
        captioned,
        (_, alt: string, name: string) => `![${captionMark(fences, name)}${alt}]`,
      )
    : text;
  if (!numbered.includes("@")) return numbered;
  return numbered.replace(reference, (written, list?: string, single?: string) => {
    const parts =
      list === undefined ? (single === undefined ? [] : [`@${single}`]) : list.split(";");
    const links = parts.map((each) => linkOf(fences, each));
    const known = links.filter((each) => each !== undefined);
    return known.length === 0 || known.length < links.length ? written : known.join(", ");
  });
}
