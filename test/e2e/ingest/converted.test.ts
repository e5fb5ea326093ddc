import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runAlone, type AloneTask } from "../../../src/documents/inspect/pool.ts";
import type { Looked, Prepared } from "../../../src/documents/inspect/inspection.ts";
import { openInspector } from "../../../src/documents/inspect/open-inspector.ts";
import type { Explanation } from "../../../src/documents/inspect/explain.ts";
import { docx, zip } from "../../documents/formats/archive.ts";
import { projectFolder, temporaryFolder } from "../../support.ts";

const worker = join(projectFolder, "dist", "worker.cjs");
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const space = Buffer.alloc(100 * 1024 * 1024, " ");

const hostile: Record<string, readonly [content: string | Uint8Array, reason: RegExp]> = {
  "nested.html": ["<div>".repeat(20_000), /nested more than 5000 levels deep/],
  "lists.html": ["<ul><li>".repeat(5000), /nested more than 5000 levels deep/],
  "formats.html": [
    numbers(6000)
      .map((n) => `<b id=a${n}>`)
      .join("") + "<p>x",
    /5000 levels deep/,
  ],
  "attributes.html": [
    `<p ${numbers(200_000)
      .map((n) => `a${n}=1`)
      .join(" ")}>x`,
    /1000 attributes/,
  ],
  "bomb.docx": [docx("", { "word/document.xml": space }), /larger than the limit for one document/],
  "entities.docx": [
    zip({ "word/document.xml": '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><d>&b;</d>' }),
    /declares a document type/,
  ],
  "nested.docx": [docx("<w:p>".repeat(20_000)), /1000 levels deep/],
};
const good: Record<string, string | Uint8Array> = {
  "a.html": "<h1>A</h1><p>b",
  "b.docx": docx("<w:p><w:r><w:t>c</w:t></w:r></w:p>"),
  "c.md": "# C\n",
};

function folderOf(files: Record<string, string | Uint8Array>): string {
  const root = temporaryFolder();
  mkdirSync(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(root, path), content);
  return root;
}

const reasonOf = (looked: Looked): string =>
  looked.kind === "failed" ? looked.reason : looked.kind;

it("a file that exhausts a library fails by name, and the others are read", async () => {
  const files = Object.fromEntries(
    Object.entries(hostile).map(([path, [content]]) => [path, content]),
  );
  const root = folderOf({ ...files, ...good });
  const pair = { ccPairId: 2, fromFlag: false };
  const inspector = await openInspector({ settings: { root }, pair }, worker, 0);
  onTestFinished(() => inspector.close());
  const paths = ["a.html", ...Object.keys(hostile), "b.docx", "c.md"];
  const items = paths.map((path) => {
    return { path, absolutePath: undefined, stamp: undefined, content: undefined };
  });
  const looked = (await inspector.look(items)).map(reasonOf);
  expect(looked[0]).toBe("document");
  for (const [index, [path, [, reason]]] of Object.entries(hostile).entries()) {
    expect(looked[index + 1]).toMatch(reason);
    expect(looked[index + 1]?.startsWith(`${path}: `)).toBe(true);
  }
  expect(looked.slice(-2)).toEqual(["document", "document"]);
});

const fileIn = (root: string, path: string): AloneTask => ({
  kind: "explain",
  file: {
    path,
    absolutePath: join(root, path),
    sizeBytes: 1,
    stamp: "",
    mtimeMs: 0,
    facts: undefined,
  },
  row: undefined,
});

it("a thread explains one file, and fails for it as this thread does", async () => {
  const root = folderOf({ ...good, "bad.html": hostile["lists.html"]?.[0] ?? "" });
  const settings = { root };
  const explain = (path: string): Promise<Explanation> =>
    runAlone(worker, { alone: fileIn(root, path), settings, checks: undefined }, path);
  expect((await explain("a.html")).document).toMatchObject({ title: "A" });
  await expect(explain("bad.html")).rejects.toMatchObject({
    exit: "usage",
    message: "bad.html: elements are nested more than 5000 levels deep",
    hints: ["close the elements, or exclude the file"],
  });
});

it("a thread reads the text of stdin", async () => {
  const settings = { root: temporaryFolder() };
  const read = (text: string): Promise<Prepared> => {
    const target = { id: "x", format: "html" } as const;
    const pair = { ccPairId: 2, fromFlag: true };
    const alone: AloneTask = { kind: "text", bytes: Buffer.from(text), target, pair };
    return runAlone(worker, { alone, settings, checks: undefined }, "stdin");
  };
  const prepared = await read("<h1>A</h1><p>b &lt;c>");
  const body = prepared.kind === "document" ? Buffer.from(prepared.body).toString() : "";
  expect(JSON.parse(body)).toMatchObject({
    document: { id: "x", sections: [{ text: "# A\n\nb \\<c>\n" }] },
    cc_pair_id: 2,
  });
  expect(await read("<ul><li>".repeat(5000))).toMatchObject({
    kind: "failed",
    id: "x",
    reason:
      "stdin: elements are nested more than 5000 levels deep; close the elements, or exclude the file",
  });
});

it.each([
  ["for (const all = []; ; ) all.push(new Array(1_000_000).fill(1));", "needs too much memory"],
  ["process.exit(1)", "ended unexpectedly"],
])("a thread that is lost fails its text: %s", async (code, reason) => {
  const script = join(folderOf({ "thread.cjs": code }), "thread.cjs");
  const data = { alone: fileIn("/", "a.html"), settings: { root: "/" }, checks: undefined };
  await expect(runAlone(script, data, "a.html")).rejects.toThrow(reason);
});
