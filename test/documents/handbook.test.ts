import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { findFiles } from "../../src/documents/find/find.ts";
import { readDocumentSync } from "../../src/documents/inspect/read.ts";
import { compileSettings } from "../../src/documents/map/settings.ts";

it("the sample handbook shows every kind of front matter and one draft", () => {
  const root = fileURLToPath(new URL("../../examples/handbook", import.meta.url));
  const settings = compileSettings({
    root,
    sections: "headings",
    link: "https://handbook.larkfield.example/{slug}",
  });
  const rows = [...findFiles(["."], { cwd: root, settings })].map((found) => {
    if (found.kind !== "file") return `${found.kind} ${found.path}`;
    const reading = readDocumentSync(found.file, settings);
    if (reading.kind === "skipped") return `${found.file.path}: ${reading.reason}`;
    expect(reading.warnings).toEqual([]);
    const { document } = reading;
    const owner = document.primary_owners?.[0];
    return [
      found.file.path,
      document.title,
      owner?.display_name ?? "-",
      document.sections.length,
      document.doc_updated_at ?? "-",
    ].join(" | ");
  });
  expect(rows).toEqual([
    "it/releases.md | How we release firmware | Firmware team | 4 | 2025-04-11T16:00:00Z",
    "it/security.md | Passwords, laptops and phishing | Help desk | 3 | 2025-06-02T00:00:00Z",
    "office/moving-plan.md: draft: true in the front matter (--drafts sends it)",
    "office/rooms.md | Rooms and visitors | - | 3 | -",
    "people/expenses.md | Travel and expenses | Jonas Weber | 2 | 2025-01-15T00:00:00Z",
    "people/holidays.md | Holidays and leave | Jonas Weber | 3 | 2025-05-19T06:30:00Z",
    "welcome.md | Welcome to Larkfield Instruments | Priya Raman | 4 | 2025-03-03T00:00:00Z",
  ]);
});
