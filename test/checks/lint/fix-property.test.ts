import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "vitest";
import { applyFixes, type Fix, fixFile } from "../../../src/checks/lint/fix.ts";
import { decodeText } from "../../../src/documents/files/bytes/decode.ts";
import * as fc from "../../property.ts";
import { temporaryFolder } from "../../support.ts";

const pieces = ["\r\n", "\n", "\r", "a", "bc ", "\u00e4", "\u{1f600}", "# T", ""];
const texts = (maxLength: number) =>
  fc.array(fc.constantFrom(...pieces), { maxLength }).map((all) => all.join(""));
const places = fc.tuple(fc.nat(60), fc.nat(6), texts(4));

// The rules see the text with LF; the file keeps its line ends. Both must get the same text.
it("a fixed file is the file of the fixed text", () => {
  const root = temporaryFolder();
  const absolutePath = join(root, "a.md");
  const property = fc.property(
    texts(30),
    fc.boolean(),
    fc.array(places, { maxLength: 6 }),
    (raw, hasMark, chosen) => {
      const source = decodeText(Buffer.from(raw), "a.md");
      const fixes = chosen.map(([from, length, text]): Fix => {
        const start = Math.min(from, source.length);
        const fix = text.replace(/\r\n?/g, "\n");
        return { rule: "r", span: { start, end: Math.min(source.length, start + length) }, fix };
      });
      fc.pre(source.isWellFormed() && applyFixes(source, fixes).text.isWellFormed());
      writeFileSync(absolutePath, (hasMark ? "\ufeff" : "") + raw);
      const outcome = fixFile({ root, path: "a.md", absolutePath, source, fixes });
      const after = readFileSync(absolutePath);
      const expected = applyFixes(source, fixes);
      if (outcome.refused !== undefined) {
        const mixes = /\r(?!\n)/.test(raw) && /\n/.test(raw);
        return mixes && decodeText(after, "a.md") === source;
      }
      if (hasMark !== after.toString("utf8").startsWith("\ufeff")) return false;
      return decodeText(after, "a.md") === expected.text && outcome.left === expected.left.length;
    },
  );
  fc.assert(property, fc.few(100));
});
