import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { VerifiedDocument } from "../../../src/checks/verify/evidence.ts";
import { writeVerifyReport } from "../../../src/output/report/verify-report.ts";
import { emptyCounts } from "../../../src/output/verify.ts";
import { temporaryFolder } from "../../support.ts";

const missing: VerifiedDocument = {
  id: "docs/a.md",
  path: "docs/a.md",
  result: "missing",
  reason: "the service has \u001b[31m<b>no</b>\u202e document",
  evidence: [],
  sentAt: null,
  verifiedAt: "2026-01-31T00:00:00Z",
};

async function reportIn(name: string, unread: string[] = []): Promise<string> {
  const path = join(temporaryFolder(), name);
  const summary = { ...emptyCounts(), missing: 1, documents: 1 };
  const documents = [missing];
  const run = { status: "failed", summary, documents, unread, isFine: () => false } as const;
  await writeVerifyReport(path, run, (text) => text);
  return readFileSync(path, "utf8");
}

it("the HTML report of verify loads nothing and runs nothing", async () => {
  const html = await reportIn("verify.html");
  expect(html).toContain(
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
  );
  expect(html).toMatch(/<footer>Written by knowctl \d/);
  expect(html).not.toContain("<b>no");
});

it("the JSON report of verify has no control characters", async () => {
  const text = await reportIn("verify.json");
  expect(text).not.toMatch(/[\u001b\u202e]/);
  expect(JSON.parse(text)).toMatchObject({ documents: [{ reason: missing.reason }] });
});

it.each([
  ["verify.xml", 'errors="1"'],
  ["verify.xml", '<error message="docs/c.md: cut" type="unreadable">docs/c.md: cut</error>'],
  ["verify.html", "<p>docs/c.md: cut</p>"],
])("%s names a file that could not be read: %s", async (name, text) => {
  expect(await reportIn(name, ["docs/c.md: cut"])).toContain(text);
});
