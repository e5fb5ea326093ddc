import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { LintFinding } from "../../../src/checks/lint/place.ts";
import { fixFiles } from "../../../src/commands/lint/fix-files.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { contentHash } from "../../../src/documents/files/bytes/file-bytes.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { createTestContext, temporaryFolder } from "../../support.ts";

const fixOf = (path: string, start: number, end: number, fix: string): LintFinding => ({
  ...findingWith({ path, rule: "spaces", fixable: true }),
  span: { start, end },
  fix,
});

it("changes files, says what it changed, and warns of files that it left alone", async () => {
  const root = temporaryFolder();
  const write = (path: string, bytes: Buffer): [string, string] => {
    writeFileSync(join(root, path), bytes);
    return [path, contentHash(bytes)];
  };
  const contents = new Map([
    write("a.md", Buffer.from("one two\r\n")),
    write("wide.md", Buffer.from("\ufeffone", "utf16le")),
    write("edited.md", Buffer.from("one")),
  ]);
  writeFileSync(join(root, "edited.md"), "ONE");
  const findings = [
    fixOf("a.md", 0, 1, "O"),
    fixOf("a.md", 4, 6, "T"),
    fixOf("a.md", 5, 7, "x"),
    fixOf("wide.md", 0, 1, "O"),
    fixOf("edited.md", 0, 1, "O"),
    findingWith({ path: "unfixable.md" }),
  ];
  const context = createTestContext({ cwd: root });
  const source = { settings: compileSettings({ root }), shown: (path: string) => `up/${path}` };
  const linted = { findings, contents };
  const counts = await fixFiles(context, createOutput(context, { quiet: true }), source, linted);
  expect(counts).toEqual({ changed: 1, refused: 2 });
  expect(readFileSync(join(root, "a.md"), "utf8")).toBe("One To\r\n");
  expect(readFileSync(join(root, "edited.md"), "utf8")).toBe("ONE");
  // With --quiet only the warnings.
  expect(context.stderrText()).toBe(
    "warning: up/wide.md: not fixed: it is not UTF-8 text\nwarning: up/edited.md: not fixed: it changed after it was read\n",
  );

  writeFileSync(join(root, "a.md"), "one two\r\n");
  const again = createTestContext({ cwd: root });
  await fixFiles(again, createOutput(again), source, { ...linted, findings: findings.slice(0, 3) });
  expect(again.stderrText()).toBe("up/a.md: fixed spaces, 2 places; 1 fix left: run it again\n");
});
