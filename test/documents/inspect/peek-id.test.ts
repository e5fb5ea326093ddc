import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { decodeText } from "../../../src/documents/read/bytes/decode.ts";
import type { PeekedId, ReadItem } from "../../../src/documents/inspect/inspection.ts";
import { createPeek } from "../../../src/documents/inspect/peek-id.ts";
import { mapDocument } from "../../../src/documents/map/map-document.ts";
import { readMarkdown } from "../../../src/documents/read/readers/markdown/markdown.ts";
import { around } from "../readers/around.ts";
import { compileSettings, type DocumentSettings } from "../../../src/documents/map/settings.ts";
import { CliError } from "../../../src/errors.ts";
import { createFolder, type Options } from "../folder.ts";

function peekId(item: ReadItem, settings: DocumentSettings): PeekedId | undefined {
  const { hasPathId, pathId } = createPeek(settings);
  return hasPathId(item) ? pathId(item.path) : undefined;
}

function glanceAt(content: string | Uint8Array, options: Options = {}, path = "page.md") {
  const root = createFolder({ [path]: content });
  return peekId({ path, absolutePath: join(root, path) }, compileSettings({ root, ...options }));
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

describe("a glance at a file", () => {
  it.each([
    ["# Title\n\nText"],
    ["---\ntitle: A\ntags: [a, b]\n---\nText"],
    ["---\nvalid: yes\nids: 1\n---\nText"],
    ["---\ndrafted: x\n---\nText"],
    [`# ${"long ".repeat(10_000)}`],
  ])("tells the id that its path gives: %.40j", (content) => {
    expect(glanceAt(content)).toEqual({ id: "page.md", ownPair: undefined });
  });

  it("knows idPrefix and the pair of a rule, and that plain text says nothing", () => {
    const rules = [{ match: "*.txt", ccPairId: 9 }];
    const settings = { idPrefix: "docs/", rules };
    expect(glanceAt("id: x", settings, "a.txt")).toEqual({ id: "docs/a.txt", ownPair: 9 });
  });

  it.each([
    ["---\nid: mine\n---\nText"],
    ["---\n'id' : mine\n---\nText"],
    ["---\n? id\n: mine\n---\nText"],
    ['---\n"\\x69d": mine\n---\nText'],
    ["---\na: &k id\n*k : mine\n---\nText"],
    ["---\n{id: mine}\n---\nText"],
    ["---\ndraft: true\n---\nText"],
    ["---\ningest: no\n---\nText"],
    ["---\r\nid: mine\r\n---\r\nText"],
    ["\uFEFF---\nid: mine\n---\nText"],
    ["+++\nid = 'mine'\n+++\nText"],
    ["---json\n{}\n---\nText"],
    ['{\n"id": "mine"\n}\nText'],
    ["---\ntitle: never closed"],
    ["---\n? id # the key\n: mine\n---\nText"],
    ["---\n- ? id # the key\n: mine\n---\nText"],
    [`---\ntitle: ${"x".repeat(5000)}\nid: mine\n---\nText`],
    [""],
  ])("leaves to reading what may say more: %.40j", (content) => {
    expect(glanceAt(content)).toBeUndefined();
  });

  const closed = (at: number): string => `${"---\ntitle: ".padEnd(at, "x")}\n---\nText`;
  it.each([
    ...Array.from("---\ntitle: Stub\n---", (_, end) => "---\ntitle: Stub\n---".slice(0, end + 1)),
    ...["-", "+", "{", "\uFEFF"].flatMap((first) => [first, `${first}\n`, `${first} a`]),
    ...Array.from({ length: 12 }, (_, more) => closed(4085 + more)),
  ])("leaves to reading what ends, or is cut off, within a fence: %.20j", (content) => {
    // Up to there the first 4 KiB hold the whole closing fence.
    const isWhole = content.endsWith("Text") && content.length <= 4096 + "Text".length;
    expect(glanceAt(content) !== undefined).toBe(isWhole);
  });

  it("leaves to reading what is no Markdown or text, packed, or not there", () => {
    expect(glanceAt("{}", {}, "a.json")).toBeUndefined();
    expect(glanceAt("x", {}, "a.md.gz")).toBeUndefined();
    const settings = compileSettings({ root: "/" });
    expect(peekId({ path: "no.md", absolutePath: "/no.md" }, settings)).toBeUndefined();
  });

  it("takes the keys of the configuration", () => {
    const frontMatter = { id: "doc.key" };
    expect(glanceAt("---\ndoc.key: mine\n---\nText", { frontMatter })).toBeUndefined();
    expect(glanceAt("---\nid: x\n---\nText", { frontMatter })).toBeDefined();
    const named = { frontMatter: { id: "kürzel" } };
    expect(glanceAt("---\nkürzel: mine\n---\nText", named)).toBeUndefined();
    expect(glanceAt("---\nkurzel: mine\n---\nText", named)).toBeDefined();
  });

  it("never tells another id than reading does", () => {
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
    );
    const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
    const root = createFolder();
    const settings = compileSettings({ root });
    const path = "page.md";
    fc.assert(
      fc.property(text, fc.constantFrom("fenced", "before text", "alone"), (middle, place) => {
        const rest = place === "alone" ? "" : "Text";
        const content = place === "fenced" ? `---\n${middle}\n---\n${rest}` : middle + rest;
        writeFileSync(join(root, path), content);
        const glanced = peekId({ path, absolutePath: join(root, path) }, settings);
        const id = idOf(content, path, settings);
        return glanced === undefined || id === undefined || id === glanced.id;
      }),
    );
  });
});
