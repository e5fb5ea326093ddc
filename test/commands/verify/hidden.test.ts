import { expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

const text = "Every employee gets twenty-eight days of holiday, says the handbook.";

/** Sixty pages of the same words; the search returns fifty chunks. */
const alike = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [
    `docs/${String(index).padStart(2, "0")}.md`,
    `# Page\n\n${text}\n`,
  ]),
);

async function uploaded(files: Record<string, string>, id: string, index: object) {
  const service = await startTestService({
    dialect: "onyx",
    files,
    faults: { rules: [{ when: { documentId: id }, do: { index } }] },
  });
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
  await service.sandbox.idle();
  return service;
}

it("calls a hidden document unknown that other documents resemble, and never sends it again", async () => {
  const service = await uploaded(alike, "docs/59.md", { hidden: true });
  const { code, stdout } = await runIn(service, "verify");
  expect(stdout).toMatch(/^unknown +docs\/59\.md: not indexed, or hidden/);
  expect(code).toBe(10);
  const from = service.sandbox.ledger.requests.length;
  await runIn(service, "retry --missing");
  const sent = service.sandbox.ledger.requests
    .slice(from)
    .filter(({ method, path }) => method === "POST" && path.includes("ingestion"));
  expect(sent).toEqual([]);
});

it("does not count documents for the chunks that the search is cut by", async () => {
  // Each of two long documents has more chunks with these words than the search returns.
  const long = `${`${text} `.repeat(40)}\n\n`.repeat(80);
  const files = { "docs/a.md": long, "docs/b.md": long, "docs/c.md": `# Page\n\n${text}\n` };
  const service = await uploaded(files, "docs/c.md", { hidden: true });
  expect((await runIn(service, "verify")).stdout).not.toContain("listed only");
});

it("finds a hidden document by a word that only it has", async () => {
  const files = { ...alike, "docs/59.md": `# Page\n\n${text} Rule QX77Z applies.\n` };
  const hidden = await uploaded(files, "docs/59.md", { hidden: true });
  expect((await runIn(hidden, "verify")).stdout).toMatch(/^hidden +docs\/59\.md/);
  const lost = await uploaded(files, "docs/59.md", { keeps: "row" });
  expect((await runIn(lost, "verify")).stdout).toMatch(/^listed only +docs\/59\.md/);
});

it("tells a lost document from a hidden one where few other documents have its words", async () => {
  const files = Object.fromEntries(Object.entries(alike).slice(0, 4));
  const hidden = await uploaded(files, "docs/03.md", { hidden: true });
  expect((await runIn(hidden, "verify")).stdout).toMatch(/^hidden +docs\/03\.md/);
  const lost = await uploaded(files, "docs/03.md", { keeps: "row" });
  const { stdout } = await runIn(lost, "verify --explain docs/03.md");
  expect(stdout).toMatch(/listed only/);
  expect(stdout).toContain("only other documents have this word");
});
