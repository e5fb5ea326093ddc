import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
// @ts-expect-error A script without types.
import { proveCorpora } from "../../scripts/corpora/corpora.js";
// @ts-expect-error A script without types.
import { countWords, judge, sentWords } from "../../scripts/corpora/judge.js";
// @ts-expect-error A script without types.
import { readPages } from "../../scripts/corpora/readers.js";
// @ts-expect-error A script without types.
import { siteReader } from "../../scripts/corpora/site.js";

let folder: string;
let lines: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corpora-"));
  lines = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

type Pages = Record<string, string>;

/** A reader that knows its answers; of another file it has no text. */
const reader = (name: string, pages: Pages) => ({
  name,
  debian: name,
  formats: ["md"],
  *read(_root: string, files: { path: string }[]) {
    for (const { path } of files) {
      yield path in pages ? { path, text: pages[path] } : { path, problem: "cannot read it" };
    }
  },
});

const twoReaders = (pages: Pages) => [reader("one", pages), reader("two", pages)];

/** Pages of different words, as readers see them. */
function pagesOf(count: number): Pages {
  const page = (at: number) =>
    Array.from({ length: 40 }, (_, word) => `word${at * 100 + word}`).join(" ");
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${at}.md`, `Page\n${page(at)}`]),
  );
}

/** What the tool writes of these pages, as `knowctl convert` does. */
const tool = (pages: Pages) => async (_folder: string, _scratch: string, file: string) => {
  const documents = Object.entries(pages).map(([id, text]) => ({ id, sections: [{ text }] }));
  writeFileSync(file, documents.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return { status: 0, said: "" };
};

/** Whether the pages of two readers prove what the tool sends. */
const isProved = (sent: Pages, seen: Pages, options = {}): Promise<boolean> =>
  proveCorpora([folder], options, twoReaders(seen), tool(sent));

describe("the words of a document", () => {
  const leastOf = (text: string) =>
    Object.fromEntries(sentWords({ sections: [{ text }] }).least) as Record<string, number>;

  test("are those that a page shows of its Markdown", () => {
    const text =
      "# A *b*\n\n`x[n]*y`\n\n1. [text](https://a.example/x_(y) 'title') and `code`[^1]\n\n```js\nlet c = e;\n```\n\n[^1]: Note &amp; \\<d>\n\n[r]: u.md\n";
    expect(Object.keys(leastOf(text)).join(" ")).toBe("a b x n y text and code let c e note d");
  });

  test("are no marks of code that ends nowhere, of tasks and of headings above", () => {
    const text = "one ` [mark](u.md)\n\n```a``` [b](v.md)\n\n- [x] done ` [c](w.md)\n";
    expect(Object.keys(leastOf(text)).join(" ")).toBe("one mark a b done c");
    const section = { text: "A > B\nA > C > D\n\ne > f", link: "p#d" };
    expect([...sentWords({ sections: [section] }).least.keys()].join(" ")).toBe("b d e f");
  });

  test("are those of a table once for a cell that spans others", () => {
    const table = "| a | a | b |\n| --- | --- | --- |\n| c | a\\|d | b |\n\n| b |";
    expect(leastOf(table)).toEqual({ a: 2, b: 2, c: 1, d: 1 });
  });

  test("of marks within a word are one word and its parts", () => {
    const { most } = sentWords({ sections: [{ text: "un**believ**able" }] });
    const lost = (page: string) => judge({ least: new Map(), most }, [page, page].map(countWords));
    expect(lost("unbelievable").lost.size).toBe(0);
    expect(lost("un believ able").lost.size).toBe(0);
    expect(lost("believe").lost.size).toBe(1);
  });
});

describe("a quorum", () => {
  const words = Array.from({ length: 100 }, (_, each) => `w${each}`).join(" ");
  const judged = (sent: string, ...pages: string[]) => {
    const { isFlagged, lost, added } = judge(
      sentWords({ title: "", semantic_identifier: "", sections: [{ text: sent }] }),
      pages.map(countWords),
    );
    return { isFlagged, lost: [...lost.keys()].join(" "), added: [...added.keys()].join(" ") };
  };

  test.each([
    ["what one reader alone has", [words, `${words} x y z`, words], "", "", false],
    ["what two of three have", [words, `${words} x y`, `${words} y x`, words], "x y", "", true],
    ["1 % of the words is tolerated", [words, `${words} x`, `${words} x`], "x", "", false],
    ["what one reader has is not added", [`${words} x y`, words, `${words} x y`], "", "", false],
    ["what no reader has", [`${words} x y`, words, words], "", "x y", true],
    [
      "a word that is missing twice",
      [`${words} x`, ...Array(2).fill(`${words} x x x`)],
      "x",
      "",
      true,
    ],
  ] as [string, string[], string, string, boolean][])("%s", (_, texts, lost, added, isFlagged) => {
    const [sent = "", ...pages] = texts;
    expect(judged(sent, ...pages)).toEqual({ lost, added, isFlagged });
  });
});

describe("the proof on real folders", () => {
  test("passes where two readers see what is sent, and documents of other files do not fit", async () => {
    await expect(isProved(pagesOf(3), pagesOf(3))).resolves.toBe(true);
    expect(lines.join("\n")).toMatch(
      /md: 3 documents compared, 0 not, 0 flagged; 0 words lost \(0.00 %\), 0 added .*; control: 2 of 2 flagged/,
    );
  });

  test("names a document that lacks words of two readers, with the words", async () => {
    const pages = pagesOf(2);
    const seen = { ...pages, "1.md": `${pages["1.md"]} never sent` };
    await expect(isProved(pages, seen)).resolves.toBe(false);
    expect(lines.join("\n")).toMatch(
      /1\.md \(43 words, read by one, two\)\n {4}lost 2: never sent/,
    );
  });

  test("proves nothing where documents of other files look right", async () => {
    const pages = { "a.md": "Same words.", "b.md": "Same words." };
    await expect(isProved(pages, pages)).resolves.toBe(false);
    expect(lines.join("\n")).toContain("cannot tell: documents compared with pages of other files");
  });

  test("proves nothing of a document with one reader, and names a missing one once", async () => {
    const pages = pagesOf(2);
    const missing = {
      ...reader("two", {}),
      read() {
        throw new Error("missing");
      },
    };
    const readers = [reader("one", { "0.md": pages["0.md"]! }), missing];
    await expect(proveCorpora([folder, folder], {}, readers, tool(pages))).resolves.toBe(false);
    const text = lines.join("\n");
    expect(text.match(/two is not installed \(Debian: apt install two\)/g)).toHaveLength(1);
    expect(text).toContain("cannot tell: 0.md: needs two readers");
    expect(text).toContain("cannot tell: 1.md: needs two readers; one: cannot read it");
  });

  test("a folder without documents, or with one that cannot be read, proves nothing", async () => {
    await expect(isProved({}, {})).resolves.toBe(false);
    expect(lines.join("\n")).toContain("nothing was compared");
    write("0.md", "Some words.\n");
    write("b.md", "---\nupdated: never\n---\nOther words.\n");
    await expect(proveCorpora([folder], {}, twoReaders({ "0.md": "Some words." }))).resolves.toBe(
      false,
    );
    expect(lines.join("\n")).toMatch(/1 document failed[^]*1 documents compared, 0 not, 0 flagged/);
  });

  test("prints a line of JSON for each document", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const pages = pagesOf(2);
    const seen = { ...pages, "0.md": `${pages["0.md"]} never sent` };
    await expect(isProved(pages, seen, { json: true })).resolves.toBe(false);
    expect(said.mock.calls.join("\n")).toContain("1 flagged");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        path: "0.md",
        format: "md",
        readers: ["one", "two"],
        lost: { never: 1, sent: 1 },
        isFlagged: true,
      },
      { path: "1.md", lost: {}, added: {}, isFlagged: false },
    ]);
  });
});

describe("the text of an HTML page", () => {
  const python = existsSync("/usr/bin/python3") ? test : test.skip;

  python.each([
    ["<ul class=toc><li>x</ul>a<span class='anchor sr-only'>x</span>", "a"],
    ["<div role=tabpanel hidden>a</div><p hidden>x</p>", "a"],
    ["<b><span>a</span><span>b</span></b><code><span>c</span><span>d</span></code>", "a bcd"],
    ["a<aside>note</aside><i title=Lock></i>", "a note Lock"],
  ])("is what readers see: %s", async (html, expected) => {
    write("a.html", `<aside>x</aside><main>${html}</main>`);
    const found = [];
    const files = [[join(folder, "a.html"), "html"]];
    for await (const { text } of readPages("python", folder, files)) found.push(text);
    expect(found.join().split(/\s+/).filter(Boolean).join(" ")).toBe(expected);
  });
});

describe("the proof with a built site", () => {
  const site = () => join(folder, "site");

  /** A reader of HTML that needs no Python. */
  const plain = () => ({
    ...siteReader(site()),
    *read(_root: string, files: { path: string }[]) {
      for (const { path } of files) yield { path, text: "Page Two and its words" };
    },
  });

  test("takes the page of a document's link, and looks up anchors in it", async () => {
    write("docs/a.md", "# Page\n\n## Two\n\nand its words\n\n## Three {#other}\n\nMore\n");
    write("site/a/index.html", '<main><h2 id="two">Two</h2></main>');
    const options = {
      site: site(),
      convert: "--link-style mkdocs --exclude site/** --exclude docs/b*",
    };
    await expect(proveCorpora([folder], options, [plain()])).resolves.toBe(false);
    expect(lines.join("\n")).toMatch(
      /1 flagged.*\n {2}1 of \d anchors wrong .*\n {4}docs\/a\.md#other/,
    );
  });
});
