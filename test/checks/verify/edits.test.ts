import { describe, expect, it } from "vitest";
import { compareText } from "../../../src/checks/verify/compare-text.ts";
import { visibleText } from "../../../src/checks/verify/characters.ts";
import { createTextJudge, type TextJudge } from "../../../src/checks/verify/judge-text.ts";
import { isProof } from "../../property.ts";
import { service, summarised, ways, type Chunker, type Page } from "./chunker.ts";
import { edits, editPage, randomFrom, readPages } from "./pages.ts";

const pages = readPages();

const compare = ({ title, sections, metadata }: Page, chunks: readonly string[]) =>
  compareText({ titles: [title], sections, metadata }, chunks);

/** A judge that has seen all pages, as a service cuts them. */
function experienced(cut: Chunker): TextJudge {
  const judge = createTextJudge();
  for (const page of pages) judge.note(compare(page, cut(page)));
  return judge;
}

const visible = ({ sections }: Page): string => visibleText(sections.join("\n\n").trim());

const key = (chunks: readonly string[]): string =>
  JSON.stringify(chunks.map((each) => visibleText(each)));

const editCount = Number(process.env["PROVE_EDITS"] ?? (isProof ? 2000 : 60));
const names = Object.keys(edits);

interface Tried {
  wrong: string[];
  results: Record<string, number>;
}

/** Compares `editCount` edited pages with the chunks of the page before the edit. */
function tryEdits(cut: Chunker, seed: number): Tried {
  const random = randomFrom(seed);
  const wise = experienced(cut);
  const tried: Tried = { wrong: [], results: {} };
  for (let number = 0; number < editCount; number++) {
    const page = pages[random(pages.length)]!;
    const name = names[number % names.length]!;
    const edited = editPage(page, name, random);
    const old = cut(page);
    if (visible(page) === visible(edited) || key(old) === key(cut(edited))) continue;
    const found = compare(edited, old);
    const alone = createTextJudge();
    alone.note(found);
    for (const [who, judge] of Object.entries({ alone, wise })) {
      const { text } = judge.decide(found);
      tried.results[`${who} ${text}`] = (tried.results[`${who} ${text}`] ?? 0) + 1;
      if (text === "same") tried.wrong.push(`${who}, edit ${number} of ${page.title}: ${name}`);
    }
  }
  return tried;
}

/** Compares pages, and `editCount` edited ones, with their own chunks. */
function tryCurrent(cut: Chunker, seed: number): Tried {
  const random = randomFrom(seed);
  const wise = experienced(cut);
  const tried: Tried = { wrong: [], results: {} };
  for (let number = 0; number < editCount; number++) {
    const page = editPage(pages[random(pages.length)]!, names[number % names.length]!, random);
    const found = compare(page, cut(page));
    const alone = createTextJudge();
    alone.note(found);
    for (const [who, judge] of Object.entries({ alone, wise })) {
      const { text } = judge.decide(found);
      tried.results[`${who} ${text}`] = (tried.results[`${who} ${text}`] ?? 0) + 1;
      if (text === "other") tried.wrong.push(`${who}, page ${number}, ${page.title}`);
    }
  }
  return tried;
}

const all = { ...ways, "as the public service": service, "with summaries": summarised };

describe("an edited page and the chunks of the page before", () => {
  it.each(Object.entries(all))("are never the same: %s", (way, cut) => {
    const { wrong, results } = tryEdits(cut, 7);
    if (isProof) console.log(way, results);
    expect(wrong).toEqual([]);
  });
});

describe("a page and its own chunks", () => {
  it.each(Object.entries(all))("are never different texts: %s", (way, cut) => {
    const { wrong, results } = tryCurrent(cut, 8);
    if (isProof) console.log(way, results);
    expect(wrong).toEqual([]);
    const unsure = 1 - (results["wise same"] ?? 0) / editCount;
    // Summaries can be told from an older text by nothing.
    // An overlap that only some chunks have looks like a sentence that was repeated.
    const isTold = way !== "with summaries" && way !== "overlap of sentences";
    if (isTold) expect(unsure).toBeLessThan(0.1);
  });
});
