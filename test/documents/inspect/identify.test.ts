import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { decodeText } from "../../../src/documents/files/bytes/decode.ts";
import type { NewId } from "../../../src/documents/inspect/inspection.ts";
import { loadIdentify } from "../../../src/documents/inspect/identify.ts";
import { mapDocument } from "../../../src/documents/map/map-document.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { around } from "../formats/around.ts";
import { compileSettings, type DocumentSettings } from "../../../src/documents/map/settings.ts";
import { CliError } from "../../../src/errors.ts";
import { createFolder, type Options } from "../folder.ts";

async function identify(
  content: string | Uint8Array,
  options: Options = {},
  path = "page.md",
): Promise<NewId | undefined> {
  const root = createFolder({ [path]: content });
  return (await loadIdentify({ root, ...options }))({ path, absolutePath: join(root, path) });
}

/** Id by the whole text; undefined when it gives no document. */
function idOf(content: string, path: string, settings: DocumentSettings): string | undefined {
  try {
    const parsed = readMarkdown(decodeText(Buffer.from(content), path), path, around);
    const mapped = mapDocument({ path, mtimeMs: 0 }, parsed, settings);
    return mapped.kind === "document" ? mapped.document.id : undefined;
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

describe("the id of a new file", () => {
  it.each<[content: string, id: string]>([
    ["# Title\n\nText", "page.md"],
    ["---\ntitle: A\ntags: [a, b]\n---\nText", "page.md"],
    ["---\nvalid: yes\nids: 1\n---\nText", "page.md"],
    ["---\nid: ~\n---\nText", "page.md"],
    [`# ${"long ".repeat(10_000)}`, "page.md"],
    ["---\nid: mine\n---\nText", "mine"],
    ["---\n'id' : mine\n---\nText", "mine"],
    ["---\n? id\n: mine\n---\nText", "mine"],
    ['---\n"\\x69d": mine\n---\nText', "mine"],
    ["---\na: &k id\n*k : mine\n---\nText", "mine"],
    ["---\n{id: mine}\n---\nText", "mine"],
    ["---\r\nid: mine\r\n---\r\nText", "mine"],
    ["---\rid: mine\r---\rText", "mine"],
    ["\uFEFF---\nid: mine\n---\nText", "mine"],
    ["+++\nid = 'mine'\n+++\nText", "mine"],
    ['{\n"id": "mine"\n}\nText', "mine"],
    [`---\ntitle: ${"x".repeat(5000)}\nid: mine\n---\nText`, "mine"],
    ["---\nid: e\u0301\n---\nText", "é"],
  ])("is that of its front matter, else that of its path: %.40j", async (content, id) => {
    expect(await identify(content)).toEqual({ id, ownPair: undefined });
  });

  it.each<[content: string | Uint8Array]>([
    ["---\ndraft: true\n---\nText"],
    ["---\ningest: no\n---\nText"],
    ["---\nid: [a]\n---\nText"],
    ["---\na: [open\n---\nText"],
    ["---js\n{}\n---\nText"],
    ["---\ntitle: never closed"],
    ["---"],
    ["{ a"],
    [""],
    [Buffer.from("\uFEFF---\nid: a\n---\n", "utf16le")],
  ])("is left to reading the file: %.40j", async (content) => {
    expect(await identify(content)).toBeUndefined();
  });

  it("knows idPrefix and the pair of a rule, and that plain text says nothing", async () => {
    const rules = [{ match: "*.txt", ccPairId: 9 }];
    const settings = { idPrefix: "docs/", rules };
    expect(await identify("id: x", settings, "a.txt")).toEqual({ id: "docs/a.txt", ownPair: 9 });
  });

  it("takes the keys of the configuration", async () => {
    for (const id of ["doc.key", "kürzel"]) {
      const frontMatter = { id };
      expect(await identify(`---\n${id}: mine\n---\n`, { frontMatter })).toMatchObject({
        id: "mine",
      });
      expect(await identify("---\nid: x\n---\n", { frontMatter })).toMatchObject({ id: "page.md" });
    }
  });

  it("needs no reading of formats whose files set no id, unless a key makes one of it", async () => {
    for (const path of ["a.html", "a.docx", "a.pdf"]) {
      expect(await identify("", {}, path)).toMatchObject({ id: path });
      expect(await identify("", { frontMatter: { id: "title" } }, path)).toBeUndefined();
    }
    for (const path of ["a.md.gz", "a.json", "a.csv"]) {
      expect(await identify("x", {}, path)).toBeUndefined();
    }
    expect(
      (await loadIdentify({ root: "/" }))({ path: "no.md", absolutePath: "/no.md" }),
    ).toBeUndefined();
  });

  it("is never another one than that of reading", async () => {
    const piece = fc.constantFrom(
      "---\n",
      "---",
      "\n",
      "id",
      "ingest",
      ": ",
      ":",
      "x",
      "'",
      '"',
      "\\x69",
      "&a ",
      "*a ",
      "? ",
      "{",
      "}",
      "- ",
      " ",
      "\r\n",
      "<<: ",
      "|\n",
      "draft: false",
      "title: T\n",
      "\t",
      "é",
      "#",
      "\r",
    );
    const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
    const root = createFolder();
    const settings = compileSettings({ root });
    const identifyIn = await loadIdentify({ root });
    const path = "page.md";
    fc.assert(
      fc.property(text, fc.constantFrom("fenced", "before text", "alone"), (middle, place) => {
        const rest = place === "alone" ? "" : "Text";
        const content = place === "fenced" ? `---\n${middle}\n---\n${rest}` : middle + rest;
        writeFileSync(join(root, path), content);
        const known = identifyIn({ path, absolutePath: join(root, path) });
        const id = idOf(content, path, settings);
        return known === undefined || id === undefined || id === known.id;
      }),
    );
  });
});
