import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
// @ts-expect-error A script without types.
import { proveCorpora } from "../../scripts/corpora/corpora.js";

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

describe("the proof on real folders", () => {
  test("counts what a page shows and its document has", async () => {
    write(
      "a.md",
      "---\nauthor: nobody\n---\n# Leave\n\nAsk [your lead](mailto:lead@example.com).\n",
    );
    write("b.mdx", 'import X from "./x";\n\n<Card>\n\nAnd text.\n\n</Card>\n');
    await expect(proveCorpora([folder], {})).resolves.toBe(true);
    expect(lines.join("\n")).toMatch(/md: 1 documents, 0 not compared, 4 words, 0 lost/);
  });

  test("a folder without documents, or with one that cannot be read, proves nothing", async () => {
    await expect(proveCorpora([folder], {})).resolves.toBe(false);
    expect(lines.join("\n")).toContain("nothing was compared");
    write("a.md", "Some words.\n");
    write("b.md", "---\nupdated: never\n---\nOther words.\n");
    await expect(proveCorpora([folder], {})).resolves.toBe(false);
    expect(lines.join("\n")).toContain("1 document failed");
  });

  test("names a document that lost words", async () => {
    const lost = "<!-- knowctl:ignore -->never sent<!-- /knowctl:ignore -->";
    write("docs/a.md", `Some words that are sent.\n\n${lost}\n`);
    await expect(proveCorpora([folder], {})).resolves.toBe(false);
    expect(lines.join("\n")).toMatch(/2 lost.*\n {2}28.6 % of 7: docs\/a.md: sent never/);
  });
});
