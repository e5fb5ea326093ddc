import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

interface Sent {
  id: string;
  path: string;
  part?: number;
}

/** An exported state with these records. */
function exportOf({ sandbox }: TestService, all: readonly Sent[]): string {
  const lines = all.map((each) => ({
    type: "accepted",
    target: `${sandbox.url}#2`,
    whole: "w",
    fields: "f",
    sentAt: "2026-01-01T00:00:00Z",
    origin: "path",
    ...each,
  }));
  const all2 = [
    { type: "knowctl-state", version: 4 },
    ...lines,
    { type: "end", records: lines.length },
  ];
  return all2.map((each) => `${JSON.stringify(each)}\n`).join("");
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const paths = numbers(10).map((index) => `docs/${index}.md`);

/** A project of ten documents, beside a document of another project in the same service. */
async function startProject(): Promise<TestService> {
  const files = Object.fromEntries(paths.map((path) => [path, `# ${path}\n\nText.\n`]));
  const service = await startTestService({ dialect: "onyx", files });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  return service;
}

const prune = "prune --yes --cc-pair-id 2";

async function importInto(service: TestService, all: readonly Sent[]): Promise<void> {
  const stdin = exportOf(service, all);
  expect(await runIn(service, "state import - --yes", { stdin })).toMatchObject({ code: 0 });
}

const idsOf = ({ sandbox }: TestService): string[] =>
  [...sandbox.ledger.documents.keys()].toSorted();

describe("imported records", () => {
  it.each<[string, Sent]>([
    ["of no file", { id: "other/team.md", path: "gone.md" }],
    ["of a file with another id", { id: "other/team.md", path: "docs/1.md" }],
    ["of a row", { id: "sku-7", path: "prices.csv", part: 7 }],
    ["with the prefix of another project", { id: "other/docs/x.md", path: "docs/x.md" }],
  ])("%s are foreign: listed apart, and kept", async (_name, record) => {
    const service = await startProject();
    await importInto(service, [record]);
    const listed = await runIn(service, "status --cc-pair-id 2 --json");
    expect(JSON.parse(listed.stdout)).toMatchObject({
      documents: [{ id: record.id, class: "foreign" }],
    });
    const pruned = await runIn(service, prune);
    expect(pruned).toMatchObject({ code: 0, stderr: expect.stringContaining("1 foreign") });
    expect((await runIn(service, "state list --json")).stdout).toContain(record.id);
    expect(await runIn(service, `${prune} --class foreign`)).toMatchObject({ code: 0 });
    expect((await runIn(service, "state list --json")).stdout).not.toContain(record.id);
  });

  it("whose path is the id of another project's document are foreign", async () => {
    const service = await startTestService({ dialect: "onyx", files: { "docs/q.md": "# Q\n" } });
    const upload = "ingest docs --id-prefix q/ --cc-pair-id 2";
    expect(await runIn(service, upload)).toMatchObject({ code: 0 });
    await importInto(service, [{ id: "w/docs/p4.md", path: "w/docs/p4.md" }]);
    const pruned = await runIn(service, `${prune} --max-delete 100%`);
    expect(pruned).toMatchObject({ code: 0, stderr: expect.stringContaining("1 foreign") });
    expect((await runIn(service, "state list --json")).stdout).toContain("w/docs/p4.md");
  });

  it("with options that name the prefix of another project are foreign", async () => {
    const service = await startTestService({ dialect: "onyx", files: { "docs/q.md": "# Q\n" } });
    const upload = "ingest docs --id-prefix q/ --cc-pair-id 2";
    expect(await runIn(service, upload)).toMatchObject({ code: 0 });
    const [header, ...lines] = (await runIn(service, "state export -")).stdout.trim().split("\n");
    const other = lines
      .filter((line) => !line.includes('"file"') && !line.includes('"end"'))
      .map((line) => line.replaceAll("q/docs/q.md", "w/docs/p4.md").replaceAll('"q/"', '"w/"'))
      .map((line) => line.replaceAll('"docs/q.md"', '"docs/p4.md"'));
    const end = JSON.stringify({ type: "end", records: other.length });
    const stdin = `${[header, ...other, end].join("\n")}\n`;
    const imported = await runIn(service, "state import - --yes", { stdin });
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    const pruned = await runIn(service, `${prune} --max-delete 100%`);
    expect(pruned.stderr).toContain("1 foreign");
    expect((await runIn(service, "state list --json")).stdout).toContain("w/docs/p4.md");
  });

  it("whose id is made of their path are orphans like own ones", async () => {
    const service = await startProject();
    await importInto(service, [{ id: "docs/old.md", path: "docs/old.md" }]);
    expect((await runIn(service, "status --cc-pair-id 2")).stdout).toContain("gone");
  });

  it("are own once an upload of this project sent them", async () => {
    const service = await startProject();
    writeFiles(service.folder, { "docs/own.md": "---\nid: own-id\n---\n# Own\n\nText.\n" });
    await importInto(service, [{ id: "own-id", path: "docs/own.md" }]);
    await runIn(service, "ingest docs --cc-pair-id 2");
    rmSync(join(service.folder, "docs/own.md"));
    const listed = await runIn(service, "status --cc-pair-id 2 --json");
    expect(JSON.parse(listed.stdout)).toMatchObject({
      documents: [{ id: "own-id", class: "gone" }],
    });
  });

  it.each<[string, (index: number) => Sent, Record<string, string>]>([
    ["of documents that no file has", (n) => ({ id: `x${n}`, path: `p${n}.md` }), {}],
    [
      "of files that are no documents",
      (n) => ({ id: `node_modules/${n}.js`, path: `node_modules/${n}.js` }),
      Object.fromEntries(numbers(300).map((n) => [`node_modules/${n}.js`, "x"])),
    ],
    [
      "of hidden files",
      (n) => ({ id: `.hidden/${n}.md`, path: `.hidden/${n}.md` }),
      Object.fromEntries(numbers(300).map((n) => [`.hidden/${n}.md`, "x"])),
    ],
    [
      "of other spellings of an id",
      (n) => ({ id: `docs/${n % 10}.md#${n}`, path: `docs/${n % 10}.md`, part: n }),
      {},
    ],
  ])("%s do not raise the limit of a removal", async (_name, padding, files) => {
    const service = await startProject();
    writeFiles(service.folder, files);
    const before = idsOf(service);
    await importInto(service, numbers(300).map(padding));
    for (const path of paths.slice(0, 5)) rmSync(join(service.folder, path));
    expect(await runIn(service, prune)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--max-delete allows 1"),
    });
    expect(idsOf(service)).toEqual(before);
  });
});
