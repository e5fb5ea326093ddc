import { describe, expect, it } from "vitest";
import { compareText } from "../../../src/checks/verify/compare-text.ts";
import { visibleText } from "../../../src/checks/verify/read-chunks.ts";
import { createTextJudge, type TextJudge } from "../../../src/checks/verify/judge-text.ts";
import { givenSeed, isProof, turns } from "../../property.ts";
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

const fewEdits = 60;
const names = Object.keys(edits);

/** How often each verdict came out, of the tries of one way of cutting. */
interface Tried {
  wrong: string[];
  count: number;
  results: Record<string, number>;
}

type Verdict = ReturnType<TextJudge["decide"]>["text"];

/**
 * Edits pages and compares them with chunks, if `choose` chooses some: as the only document of a
 * run (alone), and among all pages (wise). `isWrong` says which verdict must not come out.
 */
function tryEdits(
  cut: Chunker,
  seed: number,
  choose: (page: Page, edited: Page) => string[] | undefined,
  isWrong: (verdict: Verdict) => boolean,
): Tried {
  const random = randomFrom(seed);
  const wise = experienced(cut);
  const tried: Tried = { wrong: [], count: 0, results: {} };
  for (const number of turns(fewEdits)) {
    const page = pages[random(pages.length)]!;
    const name = names[number % names.length]!;
    const edited = editPage(page, name, random);
    const chunks = choose(page, edited);
    if (!chunks) continue;
    tried.count++;
    const found = compare(edited, chunks);
    const alone = createTextJudge();
    alone.note(found);
    for (const [who, judge] of Object.entries({ alone, wise })) {
      const { text } = judge.decide(found);
      tried.results[`${who} ${text}`] = (tried.results[`${who} ${text}`] ?? 0) + 1;
      if (isWrong(text))
        tried.wrong.push(`${who}, seed ${seed}, edit ${number} of ${page.title}: ${name}`);
    }
  }
  if (isProof) console.log(seed, tried.count, tried.results);
  return tried;
}

/**
 * Summaries can be told from an older text by nothing. An overlap that only some chunks have looks
 * like a repeated sentence. Where chunks are cut anywhere and trimmed, each cut may hide a space.
 */
const undecidable = ["with summaries", "overlap of sentences", "fixed size, trimmed"];

const all = { ...ways, "as the public service": service, "with summaries": summarised };

describe("an edited page and the chunks of the page before", () => {
  it.each(Object.entries(all))("are never the same: %s", (way, cut) => {
    if (isProof) console.log(`old text, ${way}`);
    const choose = (page: Page, edited: Page): string[] | undefined => {
      const old = cut(page);
      const isSame = visible(page) === visible(edited) || key(old) === key(cut(edited));
      return isSame ? undefined : old;
    };
    expect(tryEdits(cut, givenSeed + 6, choose, (text) => text === "same").wrong).toEqual([]);
  });
});

describe("a page and its own chunks", () => {
  it.each(Object.entries(all))("are never different texts: %s", (way, cut) => {
    if (isProof) console.log(`own text, ${way}`);
    const tried = tryEdits(
      cut,
      givenSeed + 7,
      (_, edited) => cut(edited),
      (text) => text === "other",
    );
    expect(tried.wrong).toEqual([]);
    const share = (who: string): number => (tried.results[`${who} same`] ?? 0) / tried.count;
    if (!undecidable.includes(way)) expect(share("wise")).toBeGreaterThan(0.9);
  });
});
