import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  startTestService,
  writeFiles,
  type TestService,
  type TestServiceOptions,
} from "../../service.ts";
import { runIn } from "../state/support.ts";
import { runIndexed } from "./support.ts";

const page = (index: number): string => `# Page ${index}\n\nThe code is W${index}X${index * 13}.\n`;
const files = {
  ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`docs/${index}.md`, page(index)])),
  "docs/r.csv": "id,title,text\nr1,One,one text\nr2,Two,two text\n",
};

/** Faults of the first upload of documents only. */
const once = (index: Record<string, object>): NonNullable<TestServiceOptions["faults"]> => ({
  rules: Object.entries(index).map(([documentId, fault]) => ({
    when: { documentId, first: 1 },
    do: { index: fault },
  })),
});

async function verified(faults: NonNullable<TestServiceOptions["faults"]>) {
  const service = await startTestService({ dialect: "onyx", files, faults });
  const options = "--cc-pair-id 2 --id-prefix kb/";
  await runIn(service, `ingest docs docs/r.csv ${options}`);
  await service.sandbox.idle();
  await runIn(service, "verify");
  service.sandbox.ledger.documents.clear();
  return service;
}

// `--missing`
it("sends what verify found missing, listed only or stale, with the recorded options", async () => {
  const service = await verified(
    once({
      "kb/docs/1.md": { keeps: "nothing" },
      "kb/docs/2.md": { keeps: "row" },
      r2: { keeps: "nothing" },
    }),
  );
  const dry = await runIn(service, "retry --missing --dry-run");
  expect(dry.stdout).toContain("docs/1.md");
  expect(dry.stderr).not.toContain("not checked again");
  const { code, stderr } = await runIn(service, "retry --missing");
  expect(stderr).toContain("3 files with documents that verify did not find");
  expect(stderr).toContain("not checked again: `knowctl verify` shows");
  expect(code).toBe(0);
  expect([...service.sandbox.ledger.documents.keys()].toSorted()).toEqual([
    "kb/docs/1.md",
    "kb/docs/2.md",
    "r2",
  ]);
  await service.sandbox.idle();
  expect((await runIn(service, "verify")).code).toBe(0);
  const again = await runIn(service, "retry --missing");
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("nothing to send again"),
  });
});

it("never sends a hidden document again", async () => {
  const service = await verified(
    once({ "kb/docs/1.md": { hidden: true }, "kb/docs/2.md": { private: true } }),
  );
  expect(await runIn(service, "retry --missing")).toMatchObject({ code: 0 });
  expect(service.sandbox.ledger.documents.size).toBe(0);
});

it("needs a check, and names a file that is gone", async () => {
  const service = await startTestService({ dialect: "onyx", files });
  await runIn(service, "ingest docs --cc-pair-id 2");
  expect(await runIn(service, "retry --missing")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("knowctl verify"),
  });
  const lost = await verified(once({ "kb/docs/1.md": { keeps: "nothing" } }));
  rmSync(join(lost.folder, "docs/1.md"));
  const { code, stderr } = await runIn(lost, "retry --missing");
  expect(stderr).toContain("docs/1.md: the file is gone");
  expect(stderr).toContain("1 file of missing documents is gone");
  expect(code).toBe(10);
});

describe("a document that was sent again", () => {
  const wait = "ingest docs --cc-pair-id 2 --verify --wait 1s";
  const swallowed = async (first: number, index: object = { keeps: "nothing" }) => {
    const rules = [{ when: { documentId: "docs/1.md", first }, do: { index } }];
    const service = await startTestService({ dialect: "onyx", files, faults: { rules } });
    expect((await runIndexed(service, wait)).code).toBe(13);
    return service;
  };
  const lookUps = (service: TestService): number =>
    service.sandbox.ledger.requests.filter(({ path }) => path.startsWith("/api/document/")).length;

  it("is checked by the next upload with --verify", async () => {
    const service = await swallowed(1);
    expect((await runIndexed(service, "retry --missing")).code).toBe(0);
    await service.sandbox.idle();
    const { code, stderr } = await runIndexed(service, wait);
    expect(stderr).toContain(
      "checking 1 document that an earlier run sent and did not check: at least 2 requests",
    );
    expect(stderr).toContain("1 verified");
    expect(code).toBe(0);
    const before = lookUps(service);
    expect((await runIndexed(service, wait)).code).toBe(0);
    // The look-up of a document that cannot exist.
    expect(lookUps(service) - before).toBe(1);
  });

  it("does not let an upload with --verify end with 0 while it is missing", async () => {
    const service = await swallowed(2);
    expect((await runIndexed(service, "retry --missing")).code).toBe(0);
    await service.sandbox.idle();
    const { code, stderr, stdout } = await runIndexed(service, `${wait} --output ndjson`);
    expect(stderr).toContain("1 document not as uploaded: 1 missing");
    // Once: this run checked it.
    expect(stderr).not.toContain("when last checked");
    expect(stdout).toContain('"type":"verified"');
    expect(code).toBe(13);
    expect((await runIndexed(service, wait)).code).toBe(13);
    expect((await runIndexed(service, "retry --missing")).code).toBe(0);
    await service.sandbox.idle();
    expect((await runIndexed(service, wait)).code).toBe(0);
  });

  it("is checked whatever sent it again, where the inputs yield it", async () => {
    const service = await swallowed(2);
    expect((await runIndexed(service, "ingest docs --cc-pair-id 2 --force")).code).toBe(0);
    await service.sandbox.idle();
    expect((await runIndexed(service, `${wait} --exclude docs/1.md`)).code).toBe(0);
    const { code, stderr } = await runIndexed(service, wait);
    expect(stderr).toContain("checking 1 document that an earlier run sent");
    expect(code).toBe(13);
  });

  it("is checked once where its metadata alone changed, and this run sends it", async () => {
    const service = await swallowed(2, { hidden: true });
    writeFiles(service.folder, { "docs/1.md": `---\nteam: people\n---\n${page(1)}` });
    expect((await runIndexed(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    await service.sandbox.idle();
    expect((await runIndexed(service, wait)).code).toBe(13);
    writeFiles(service.folder, { "docs/1.md": `---\nteam: ops\n---\n${page(1)}` });
    const { code, stderr } = await runIndexed(service, wait);
    expect(stderr).not.toContain("an earlier run");
    expect(code).toBe(0);
  });

  it("is undecided where it came from stdin: its text is not kept", async () => {
    const service = await startTestService({
      dialect: "onyx",
      faults: once({ a: { keeps: "nothing" } }),
    });
    const line = JSON.stringify({
      id: "a",
      semantic_identifier: "A",
      sections: [{ text: "alpha beta" }],
      source: "file",
      metadata: {},
    });
    const send = async (more: string) => {
      const ran = await runIndexed(service, `ingest - --cc-pair-id 2 ${more}`, `${line}\n`);
      await service.sandbox.idle();
      return ran;
    };
    expect((await send("--verify --wait 1s")).code).toBe(13);
    expect((await send("--force")).code).toBe(0);
    expect((await send("--verify --wait 1s")).code).toBe(10);
    expect((await send("--force --verify --wait 1s")).code).toBe(0);
    expect((await send("--verify")).code).toBe(0);
  });
});
