import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../support.ts";
import { blocksOf, isShell, namesIn, pages, proseOf, readPage, rowsOf } from "./pages.ts";
import { anchorsOf } from "../../src/documents/text/heading-text.ts";
import { scanStructure } from "../../src/documents/text/structure.ts";
import { helpTexts } from "../../src/cli/program.ts";
import { spawnSync } from "node:child_process";

describe("limits", () => {
  // A page answers one question. A page beyond these limits answers several: split it, or cut it.

  const references = ["commands", "configuration-keys", "lint-rules", "reliability"].map(
    (name) => `docs/${name}.md`,
  );
  const isReference = (page: string): boolean =>
    references.includes(page) || page.startsWith("docs/commands/");
  const written = pages.filter((page) => !isReference(page));

  /** Pages for users; their words count together. The words of docs/writing.md are those of the rules. */
  const forUsers = written.filter(
    (page) => page === "README.md" || (page.startsWith("docs/") && page !== "docs/writing.md"),
  );

  const linesIn = (page: string): number => readPage(page).trimEnd().split("\n").length;
  /** Words between spaces; the bars and lines of a table are none. */
  const wordsIn = (page: string): number =>
    readPage(page)
      .split(/\s+/)
      .filter((word) => /[^|:-]/.test(word)).length;

  it("README.md fits three screens", () => {
    expect(linesIn("README.md")).toBeLessThanOrEqual(150);
  });

  it.each(written)("%s has at most 250 lines", (page) => {
    expect(linesIn(page)).toBeLessThanOrEqual(250);
  });

  // A page says what a person needs before he acts. What a message of the program, --help or another page
  // says, it links.
  const mostWords = 15_000;

  it(`the pages for users have at most ${mostWords} words`, () => {
    const words = forUsers.map((page) => [page, wordsIn(page)] as const);
    const total = words.reduce((sum, [, count]) => sum + count, 0);
    const what = `say it in fewer words, here or on another page: ${JSON.stringify(Object.fromEntries(words))}`;
    expect(total, what).toBeLessThanOrEqual(mostWords);
  });

  it("the package that a page names has the version of this one", () => {
    const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as {
      version: string;
    };
    const named = written.flatMap((page) => [
      ...readPage(page).matchAll(/knowctl-(\d[\w.-]*)\.tgz/g),
    ]);
    expect(named.length).toBeGreaterThan(0);
    for (const [name, found] of named) expect(found, name).toBe(version);
  });
});

const help = helpTexts();

describe("links", () => {
  const known = new Map<string, readonly (string | undefined)[]>();

  function anchorsIn(page: string): readonly (string | undefined)[] {
    const anchors = known.get(page) ?? anchorsOf(scanStructure(readPage(page)).headings, "github");
    known.set(page, anchors);
    return anchors;
  }

  /** Targets of the links of a page. In code, brackets are no link. */
  function targetsIn(page: string): string[] {
    const prose = proseOf(page).replace(/`[^`\n]+`/g, "");
    return [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target]) => target!);
  }

  describe.each(pages)("%s", (page) => {
    it("links to files and headings that exist", () => {
      for (const target of targetsIn(page)) {
        const [path = "", anchor] = target.split("#");
        const file =
          path === "" ? join(projectFolder, page) : join(projectFolder, dirname(page), path);
        expect(existsSync(file), target).toBe(true);
        const other = relative(projectFolder, file);
        if (anchor !== undefined) expect(anchorsIn(other), target).toContain(anchor);
      }
    });

    it("names commands that exist", () => {
      const commands = new Set(Object.keys(help));
      const groups = new Set(["help", ...[...commands].map((path) => path.split(" ")[0]!)]);
      for (const [, first = "", second = ""] of proseOf(page).matchAll(
        /`knowctl ([a-z-]+)(?: ([a-z-]+)(?=[ `]))?/g,
      )) {
        expect(groups, `knowctl ${first}`).toContain(first);
        const hasCommands = [...commands].some((path) => path.startsWith(`${first} `));
        // `ingest` takes words of its own.
        if (second === "" || !hasCommands || first === "ingest") continue;
        expect(commands).toContain(`${first} ${second}`);
      }
    });
  });

  it("npm commands in blocks are scripts of the package, or npm's own", () => {
    const { scripts } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const lines = pages
      .flatMap(blocksOf)
      .filter(isShell)
      .flatMap(({ body }) => body.split("\n"));
    const found = lines.flatMap((line) => [...line.matchAll(/^npm (run )?([\w-]+)/g)]);
    expect(found.length).toBeGreaterThan(5);
    for (const [, run, name] of found) {
      if (run) expect(Object.keys(scripts)).toContain(name);
      else expect(["ci", "install", "test", "pack", "pkg", "publish"]).toContain(name);
    }
  });

  it("every page of docs/ is reached from its index", () => {
    const index = new Set(
      ["docs/README.md", "docs/commands.md"]
        .flatMap(targetsIn)
        .map((target) => target.split("#")[0]),
    );
    const names = pages.filter((page) => page.startsWith("docs/")).map((page) => page.slice(5));
    for (const name of names)
      if (name !== "README.md") expect(index, "add it to docs/README.md").toContain(name);
  });
});

describe("pictures", () => {
  // Of util-linux; that of other systems takes other arguments.
  const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
  const names = ["try", "help", "connectors", "upload", "answer", "watch", "agent", "lint"];

  describe("the pictures of the terminal", () => {
    it.runIf(hasScript)("show what the program shows today", () => {
      const script = join(projectFolder, "scripts", "pictures.js");
      const { status, stderr } = spawnSync(process.execPath, [script, "--check"], {
        encoding: "utf8",
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    });

    it.each(names)(
      "%s stands in a page, with a text in its place for those who cannot see it",
      (name) => {
        const shown = new RegExp(`!\\[([^\\]]{20,})\\]\\([^)]*pictures/${name}\\.svg\\)`);
        expect(pages.some((page) => shown.test(readPage(page)))).toBe(true);
      },
    );

    it.each(["page", "report", "eval"])("%s has a text in its place, and a dark form", (name) => {
      const shown = new RegExp(
        `pictures/${name}-dark\\.png">\\s*<img alt="[^"]{20,}" src="pictures/${name}-light`,
      );
      expect(pages.some((page) => shown.test(readPage(page)))).toBe(true);
    });

    it.each(names)("%s has a name, no foreign address and no script", (name) => {
      const text = readFileSync(join(projectFolder, "docs", "pictures", `${name}.svg`), "utf8");
      expect(text).toMatch(/<title>.+<\/title>/);
      expect(text.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
        /href|src=|<script/,
      );
    });
  });
});

describe("messages", () => {
  // Users look for the words that they see: each message that the page quotes has to be one.

  const source = join(projectFolder, "src");
  // What is wrong with a command line is told by commander.
  const commander = join(projectFolder, "node_modules", "commander", "lib", "command.js");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(source, name))
    .concat(commander)
    .map((path) => readFileSync(path, "utf8"));

  const rows = rowsOf("docs/troubleshooting.md", "message");
  const messages = rows.flatMap(([cell = ""]) => namesIn(cell));

  /** What stands between the parts that differ, in order, near each other in one file. */
  function patternOf(message: string): RegExp {
    const parts = message
      .split("…")
      .map((part) => part.trim())
      .filter((part) => /\w/.test(part))
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(parts.join("[\\s\\S]{1,300}?"));
  }

  describe("docs/troubleshooting.md", () => {
    it.each(messages)("%s", (message) => {
      expect(message.replaceAll("…", "").length, "too short to be found").toBeGreaterThan(10);
      expect(files.some((text) => patternOf(message).test(text))).toBe(true);
    });

    it("has a cause and a remedy for each, and no message twice", () => {
      expect(messages.length).toBeGreaterThan(25);
      expect(new Set(messages).size).toBe(messages.length);
      for (const row of rows) expect(row.filter((cell) => cell !== "")).toHaveLength(3);
    });

    it("would notice a message that is gone", () => {
      const gone = patternOf("there is no … called … in the moon");
      expect(files.some((text) => gone.test(text))).toBe(false);
    });
  });

  /** String literals of several words, without comments. */
  function textsIn(code: string): string[] {
    const lines = code.replace(/^\s*(?:\/?\*|\/\/).*$/gm, "").split("\n");
    const literals = lines.flatMap((line) => line.match(/"(?:[^"\\]|\\.)*"|`[^`]*`/g) ?? []);
    return literals.filter((literal) => literal.includes(" "));
  }

  const literals = files.flatMap(textsIn);

  // One thing has one name in what people read; the interface's own names stay in JSON.
  const spellings: [name: string, other: RegExp, sample: string][] = [
    [
      "pair",
      /(?<!-)\bcc[-_ ]?pair(?:[-_ ]?id)? (?:\$\{|\d|N\b)/gi,
      "no cc-pair ${id}, cc_pair_id 2",
    ],
    ["pair", /(?<![-\w])pair[- ]ids?\b/g, "the pair id of a connector"],
    ["document", /\bdoc(?:[- ]id)? (?:\$\{|\d)/g, "doc ${id}"],
    [
      "id",
      /(?<![-\w])(?:document|session|connector|agent|pair|tool|file|user)[- ]IDs?\b/g,
      "a session ID",
    ],
    ["id", /(?<!semantic |[_\w.])identifiers?\b/g, "its identifier"],
    ["connector", /\bdata[- ]?sources?\b/gi, "a data source"],
    ["profile", /\b(?:configuration|account|user)[- ]profiles?\b/g, "your account profile"],
    ["host", /\bhost ?names? (?:\$\{|\d)/g, "the hostname ${host}"],
  ];
  it.each(spellings)("a %s has no other name (%s)", (_name, other, sample) => {
    expect(sample).toMatch(other);
    const read = [...literals, ...Object.values(help), ...pages.map(proseOf)];
    expect(read.flatMap((text) => text.match(other) ?? [])).toEqual([]);
  });
});
