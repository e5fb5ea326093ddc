import { describe, expect, it } from "vitest";
import { type Comparison, compareText } from "../../../src/checks/verify/compare-text.ts";
import { type TextJudge, createTextJudge } from "../../../src/checks/verify/judge-text.ts";
import * as fc from "../../property.ts";
import { type Chunker, type Page, service, summarised, ways } from "./chunker.ts";
import { visibleText } from "../../../src/checks/verify/read-chunks.ts";
import { givenSeed, isProof, turns } from "../../property.ts";
import { editPage, edits, randomFrom, readPages } from "./pages.ts";

describe("compare text", () => {
  const title = "Leave policy";
  const paragraph =
    "Every employee gets 28 days of leave a year. Ask your lead two weeks before, " +
    "in the form under People > Leave. Unused days move to March of the next year, at most 5 of them.";
  const sections = [
    `# Leave\n\n${paragraph}`,
    `Leave > Sick leave\n\nCall before 10:00. ${paragraph.replaceAll("28", "30")}`,
    "Leave > Übersicht\n\n病気休暇は年間十日です。前日までに連絡してください。\n\n| a | b |\n| - | - |\n| 1.5 | -2 |",
  ];

  const compare = (sent: readonly string[], chunks: readonly string[]): Comparison =>
    compareText({ titles: [title], sections: sent }, chunks);

  /** The verdict on the first document, where the run has others. */
  function verdictOf(found: Comparison, others: readonly Comparison[] = []): string {
    const judge = createTextJudge();
    for (const each of [found, ...others]) judge.note(each);
    return judge.decide(found).text;
  }

  const many = (found: Comparison): Comparison[] => Array.from({ length: 9 }, () => found);

  /** Cut anywhere after so many characters, with a beginning that repeats the end before. */
  function cut(text: string, size: number, overlap = 0): string[] {
    const chunks: string[] = [];
    for (let at = 0; at + overlap < text.length; at += size - overlap) {
      chunks.push(text.slice(at, at + size));
    }
    return chunks;
  }

  const text = sections.join("\n\n");

  describe("the comparison with chunks", () => {
    it.each<[string, string[]]>([
      ["in one piece", [text]],
      ["cut anywhere", cut(text, 61)],
      ["that overlap", cut(text, 120, 30)],
      ["of one section each", [...sections]],
      ["of one paragraph each", text.split("\n\n")],
      ["with the title", text.split("\n\n").map((each) => `${title}\n\r\n${each}`)],
    ])("finds the text in chunks %s", (_, chunks) => {
      expect(verdictOf(compare(sections, chunks))).toBe("same");
    });

    it.each<[what: string, old: string, sent: string]>([
      ["the end of a list item", "- Alice: read\n- Carol: admin", "- Alice: read\n- Carol"],
      ["a decimal", "The factor is 1.5 here.", "The factor is 1 here."],
      ["a decimal that stands elsewhere", "Use 1.5, not 1. Use 5.", "Use 1, not 1. Use 5."],
      ["a sign", "It is -5 degrees.", "It is 5 degrees."],
      ["a mark without letters", "❌ Write to all.", "Write to all."],
      ["a mark that was added", "Write to all.", "❌ Write to all."],
      ["a repeated sentence", "Ask first. Ask first. Go.", "Ask first. Go."],
      ["a sentence that is repeated now", "Ask first. Go.", "Ask first. Ask first. Go."],
      ["a moved sentence", "Go. Ask first. Wait.", "Ask first. Go. Wait."],
      ["a comma", "No, wait.", "No wait."],
      ["a letter", "Ask the leads.", "Ask the lead."],
      ["an accent", "Le congé", "Le conge"],
      ["a line of the title", `${title}\nAsk first.`, "Ask first."],
      ["white space", "a b", "ab"],
      ["a list item", "- a\n- b\n- a", "- a\n- b"],
    ])("never calls a text the same that differs in %s", (_, old, sent) => {
      const before = `${paragraph}\n\n`;
      for (const around of ["", before]) {
        const [oldText, sentText] = [`${around}${old}`, `${around}${sent}`];
        for (const chunks of [
          [oldText],
          cut(oldText, 40),
          oldText.split("\n"),
          cut(oldText, 60, 20),
        ]) {
          expect(verdictOf(compare([sentText], chunks))).not.toBe("same");
        }
      }
    });

    it("takes white space, accents and control characters for what people see", () => {
      const sent = ["Le conge\u0301  dure\n10\u00a0jours.\u0007"];
      expect(verdictOf(compare(sent, ["Le congé dure 10 jours."]))).toBe("same");
      expect(verdictOf(compare(["Le congé"], ["L", "e conge", "\u0301"]))).toBe("same");
      expect(verdictOf(compare(["a 😀 b"], ["a \ud83d", "\ude00 ", "b"]))).toBe("same");
    });

    it("takes white space between chunks for that of an older text where nothing shows what the service does", () => {
      const spaced = compare(["Ask first. Then go."], ["Ask first.", "Then go."]);
      const joined = compare(["Ask first.Then go."], ["Ask first.", "Then go."]);
      const kept = compare(sections, cut(text, 61));
      const dropped = compare(sections, text.split("\n\n"));
      const trimmed = compare(
        sections,
        cut(text, 61).map((each) => each.trim()),
      );
      expect([spaced, joined].map((each) => verdictOf(each))).toEqual(["unsure", "unsure"]);
      expect([spaced, joined].map((each) => verdictOf(each, [dropped]))).toEqual([
        "same",
        "unsure",
      ]);
      expect([spaced, joined].map((each) => verdictOf(each, [kept]))).toEqual(["unsure", "same"]);
      expect(verdictOf(trimmed)).toBe("unsure");
    });

    it("believes in an overlap, a title and metadata where other documents show them", () => {
      const repeated = [`${sections[0]}`, `${sections[0]!.slice(-30)} ${sections[1]}`];
      const overlapped = compare(sections.slice(0, 2), repeated);
      expect(verdictOf(overlapped)).toBe("unsure");
      expect(verdictOf(overlapped, [compare(sections, cut(text, 120, 40))])).toBe("same");
      expect(verdictOf(overlapped, [compare(sections, cut(text, 120, 20))])).toBe("unsure");
      expect(verdictOf(overlapped, many(compare(sections, cut(text, 61))))).toBe("unsure");

      const titled = compare(["Ask first."], [`${title}\nAsk first.`]);
      expect(verdictOf(titled)).toBe("unsure");
      const shown = compare(
        sections,
        sections.map((each) => `${title}\n${each}`),
      );
      expect(verdictOf(titled, [shown])).toBe("same");
      // The service would have put the title before the title of the text.
      const own = compare([`${title}\nAsk first.`], [`${title}\nAsk first.`]);
      expect([verdictOf(own), verdictOf(own, [shown])]).toEqual(["same", "unsure"]);

      const metadata = { team: "people" };
      const chunks = sections.map((each) => `${each}\n\r\nMetadata:\n\tteam - people`);
      expect(verdictOf(compareText({ titles: [], sections, metadata }, chunks))).toBe("same");
    });

    it("knows the characters that the public service removes, where documents show that it does", () => {
      const removed = compare(["Ask – then go 😀"], ["Ask  then go "]);
      expect(verdictOf(removed)).toBe("unsure");
      const shown = compare(["Don’t, can’t, 10–20."], ["Dont, cant, 1020."]);
      expect(verdictOf(shown)).toBe("same");
      expect(verdictOf(removed, [shown])).toBe("same");
      const items = compare(["- 😇 Tried\n- 🎛 Set —\u00a0once"], ["-  Tried\n-  Set \u00a0once"]);
      expect(verdictOf(items)).toBe("same");
      const apart = ["Ask – then go. Wait → read.", "| a | ✅ |\n| b | ✅ |"];
      expect(verdictOf(compare(apart.slice(0, 1), ["Ask  then go. Wait  read."]))).toBe("same");
      expect(verdictOf(compare(apart.slice(0, 1), ["Ask then go. Wait read."]))).toBe("unsure");
      expect(verdictOf(compare(apart.slice(1), ["| a |  |\n| b |  |"]))).toBe("unsure");
      expect(verdictOf(compare(["a\u200bb/c\u200bd"], ["ab/cd"]))).toBe("unsure");
      expect(verdictOf(removed, [compare(["A — b"], ["A — b"])])).toBe("other");
      expect(verdictOf(removed, [shown, compare(["A — b"], ["A — b"])])).toBe("other");
    });

    it("takes further text for an older version only where other documents have none", () => {
      const context = "This document explains how people of the company ask for things.";
      const found = compare(sections, [`${context}\n${text}`]);
      const plain = compare(sections, [text]);
      expect(verdictOf(found)).toBe("more");
      expect(verdictOf(found, many(plain))).toBe("other");
      expect(verdictOf(found, many(plain).slice(0, 3))).toBe("more");
      // Context that the service adds, or old versions of all documents.
      expect(verdictOf(found, many(found))).toBe("more");
      // Documents of several chunks say nothing about those of one.
      expect(verdictOf(found, many(compare(sections, [...sections])))).toBe("more");
    });

    it("takes a paragraph that only half of the chunks have for one of an older version", () => {
      const removed = "Managers once approved every single request by signed telegram.";
      const [first = "", second = "", third = ""] = sections;
      expect(verdictOf(compare([first, second], [`${first}\n\n${removed}`, second]))).toBe("other");
      const most = [`${first}\n\n${removed}`, `${second} ${removed}`, third];
      expect(verdictOf(compare(sections, most))).toBe("more");
      const alone = [...sections, "Leave > Strike\n\nThis section was removed in the new version."];
      expect(verdictOf(compare(sections, alone))).toBe("other");
    });

    it("needs every chunk, and compares a document without text", () => {
      expect(verdictOf(compare(sections, sections.slice(0, -1)))).toBe("other");
      expect(verdictOf(compare([], [""]))).toBe("same");
      expect(verdictOf(compare([], [title]))).toBe("unsure");
      expect(verdictOf(compare([paragraph], [paragraph, paragraph, paragraph]))).toBe("unsure");
    });

    it("names the first words that are not there", () => {
      const old = text.replace("28 days", "30 days");
      expect(compare(sections, [old]).firstLacking).toMatch(/^28 days of leave/);
    });

    it("is linear for texts that repeat themselves", () => {
      const long = "a".repeat(400_000);
      expect(verdictOf(compare([long], [long.slice(0, -1), "b"]))).not.toBe("same");
      expect(verdictOf(compare([long], cut(long, 5_000, 500)))).not.toBe("other");
      const lines = "| - | - |\n".repeat(40_000);
      expect(verdictOf(compare([lines], cut(lines, 5_000)))).not.toBe("other");
    });
  });

  const word = fc.oneof(
    fc.constantFrom(
      "leave",
      "28",
      "the",
      "of",
      "-5",
      "1.5",
      "(see",
      "above)",
      "年次休暇",
      "über",
      "a",
    ),
    fc.string({ minLength: 1, maxLength: 12 }),
  );
  const sentence = fc
    .array(word, { minLength: 3, maxLength: 60 })
    .map((words) => `${words.join(" ")}.\n`);
  const pageOf = (texts: readonly string[]): Page => ({
    title,
    sections: texts,
    metadata: { a: "b" },
  });

  describe("any text", () => {
    it("is no other text than its own chunks, however they are cut", () => {
      const chunkers = fc.constantFrom(...Object.values(ways), summarised);
      fc.assert(
        fc.property(
          fc.array(sentence, { minLength: 1, maxLength: 8 }),
          chunkers,
          (texts, chunker) => {
            expect(verdictOf(compare(texts, chunker(pageOf(texts))))).not.toBe("other");
          },
        ),
      );
    });

    it("is the same only as chunks that hold its characters in order", () => {
      fc.assert(
        fc.property(
          fc.array(sentence, { minLength: 1, maxLength: 6 }),
          fc.constantFrom(...Object.values(ways)),
          fc.nat(),
          (texts, chunker, at) => {
            const words = texts.join("").split(" ");
            words[at % words.length] = "changed77";
            const old = chunker(pageOf([words.join(" ")]));
            expect(verdictOf(compare(texts, old))).not.toBe("same");
          },
        ),
      );
    });
  });
});

describe("edits", () => {
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
});
