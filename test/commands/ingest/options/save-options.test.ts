import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/database.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

const files = { "docs/a.md": "# A\n\nText.\n", "more/b.md": "# B\n\nText.\n", "c.md": "# C\n" };
const flags = "--cc-pair-id 2 --id-prefix kb/ --tag t1 --metadata team=x --sections headings";

const configOf = (service: TestService): unknown =>
  JSON.parse(readFileSync(join(service.folder, ".cliconfig.json"), "utf8"));
const ids = (service: TestService): string[] =>
  [...service.sandbox.ledger.documents.keys()].toSorted();

it("keeps the options in a new, trusted file, so that plain ingest repeats the upload", async () => {
  const service = await startTestService({ files });
  const first = await runIn(service, `ingest docs more ${flags} --save-options`);
  expect(first).toMatchObject({ code: 0 });
  expect(first.stderr).toContain('ingest.idPrefix = "kb/"');
  expect(configOf(service)).toEqual({
    ingest: {
      include: ["./docs", "./more"],
      idPrefix: "kb/",
      sections: "headings",
      metadata: { team: "x" },
      tags: ["t1"],
      ccPairId: 2,
    },
  });
  const again = await runIn(service, "ingest");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("2 unchanged") });
  expect(again.stderr).not.toContain("changed:");
  expect(ids(service)).toEqual(["kb/docs/a.md", "kb/more/b.md"]);
  const same = await runIn(service, `ingest docs more ${flags} --save-options`);
  expect(same.stderr).toContain("already contains these options");
});

it("trusts the changed file where the variable for trust says no", async () => {
  const started = await startTestService({ files });
  const service = { ...started, env: { ...started.env, KNOWCTL_TRUST_PROJECT: "0" } };
  const line = "ingest docs --cc-pair-id 2 --save-options --yes --id-prefix";
  expect(await runIn(service, `${line} one/`)).toMatchObject({ code: 0 });
  expect(await runIn(service, `${line} two/`)).toMatchObject({ code: 0 });
  expect(await runIn(service, "ingest")).toMatchObject({ code: 0 });
});

it("takes paths from below the root, globs, the root itself and columns of rows", async () => {
  const service = await startTestService({
    files: { ...files, "docs/p.csv": "sku,name\n1,One\n" },
  });
  const below = { ...service, folder: join(service.folder, "docs") };
  const line = "ingest p.csv *.md --map id=sku,title=name,text=name --cc-pair-id 2 --save-options";
  expect(await runIn(below, line)).toMatchObject({ code: 0 });
  expect(configOf(service)).toMatchObject({
    ingest: { include: ["docs/p.csv", "docs/*.md"], map: { id: "sku", title: "name" } },
  });
  const again = await runIn(below, "ingest");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("2 unchanged") });
  const all = await runIn(service, "ingest . --cc-pair-id 2 --save-options --yes");
  expect(all).toMatchObject({ code: 0 });
  expect(configOf(service)).toMatchObject({ ingest: { include: ["**"] } });
});

it.each([
  ["*.md", ["./*.md"]],
  ["c.md", ["./c.md"]],
  ["{c,d}.md", ["./{c,d}.md"]],
])("keeps a pattern at its place, also when its file is renamed: %s", async (path, include) => {
  const service = await startTestService({ files: { ...files, "more/c.md": "# Private\n" } });
  const line = `ingest ${path} --cc-pair-id 2 --save-options`;
  expect(await runIn(service, line)).toMatchObject({ code: 0 });
  expect(configOf(service)).toMatchObject({ ingest: { include } });
  expect(await runIn(service, "ingest")).toMatchObject({ code: 0 });
  expect(ids(service)).toEqual(["c.md"]);
  renameSync(join(service.folder, "c.md"), join(service.folder, "d.md"));
  await runIn(service, "ingest");
  expect(ids(service)).not.toContain("more/c.md");
});

it("keeps what the flags added to the configuration", async () => {
  const service = await startTestService({
    files: { ...files, "docs/x.md": "# X\n", "docs/y.md": "# Y\n", "docs/z.md": "# Z\n" },
  });
  const ingest = {
    include: ["docs", "!docs/z.md"],
    tags: ["a"],
    metadata: { team: "x", kept: "k" },
    exclude: ["x.md"],
  };
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
  expect(await runIn(service, "config trust")).toMatchObject({ code: 0 });
  const flags = "--tag b --metadata team=y --exclude y.md";
  const line = `ingest docs --cc-pair-id 2 ${flags} --save-options`;
  expect(await runIn(service, `${line} --yes`)).toMatchObject({ code: 0 });
  expect(configOf(service)).toEqual({
    ingest: {
      include: ["./docs", "!docs/z.md"],
      tags: ["a", "b"],
      metadata: { team: "y", kept: "k" },
      exclude: ["x.md", "y.md"],
      ccPairId: 2,
    },
  });
  const again = await runIn(service, "ingest");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("1 unchanged") });
  expect(again.stderr).not.toContain("changed:");
  expect(ids(service)).toEqual(["docs/a.md"]);
  expect((await runIn(service, line)).stderr).toContain("already contains these options");
});

it("keeps the columns of the flag alone, as the upload took them", async () => {
  const service = await startTestService({ files: { "p.csv": "sku,name\n1,One\n" } });
  const ingest = { map: { id: "sku", text: "name" } };
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
  expect(await runIn(service, "config trust")).toMatchObject({ code: 0 });
  const line = "ingest p.csv --cc-pair-id 2 --map text=name --save-options --yes";
  expect(await runIn(service, line)).toMatchObject({ code: 0 });
  expect(configOf(service)).toMatchObject({ ingest: { map: { text: "name" } } });
  const again = await runIn(service, "ingest");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("1 unchanged") });
});

it("asks before it changes a value, and changes nothing without a yes", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix one/ --save-options");
  const line = "ingest docs --cc-pair-id 2 --id-prefix two/ --save-options";
  const piped = await runIn(service, line);
  expect(piped).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("confirm the change with --yes"),
  });
  expect(piped.stderr).toContain('ingest.idPrefix: "one/" → "two/"');
  const no = await runIn(service, line, { answer: "n\n" });
  expect(no.code).toBe(2);
  expect(configOf(service)).toMatchObject({ ingest: { idPrefix: "one/" } });
  expect(ids(service)).toEqual(["one/docs/a.md"]);
  expect(await runIn(service, line, { answer: "y\n" })).toMatchObject({ code: 0 });
  expect(configOf(service)).toMatchObject({ ingest: { idPrefix: "two/" } });
  expect(await runIn(service, "ingest")).toMatchObject({ code: 0 });
});

it("changes no file that is not trusted, and sends nothing", async () => {
  const service = await startTestService({ files });
  const config = JSON.stringify({ ingest: { sections: "headings" } });
  writeFiles(service.folder, { ".cliconfig.json": config });
  const ran = await runIn(service, "ingest docs --cc-pair-id 2 --tag x --save-options");
  expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining("config trust") });
  expect(ids(service)).toEqual([]);
  expect(readFileSync(join(service.folder, ".cliconfig.json"), "utf8")).toBe(config);
});

it.each([
  ["ingest docs --include **/*.md --save-options", "--include"],
  ["ingest docs --dry-run --save-options", "--dry-run"],
  ["ingest - --save-options", "stdin"],
  ["ingest c.md --format text --save-options", "--format"],
  ["ingest docs --no-state --save-options", "--state"],
  ["ingest docs --allow-sync --save-options", "--allow-sync"],
  ["ingest docs --yes", "--save-options"],
])("refuses what plain ingest could not repeat: %s", async (line, named) => {
  const service = await startTestService({ files });
  const ran = await runIn(service, `${line} --cc-pair-id 2`, { stdin: "" });
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(named) });
  expect(existsSync(join(service.folder, ".cliconfig.json"))).toBe(false);
});

it("is told of once on a terminal, after a first upload with options", async () => {
  const service = await startTestService({ files });
  mkdirSync(join(service.folder, "empty"));
  const first = await runIn(service, "ingest docs --cc-pair-id 2 --tag x", { answer: "" });
  expect(first.stderr).toContain("--save-options once");
  const second = await runIn(service, "ingest docs more --cc-pair-id 2 --tag x", { answer: "" });
  expect(second.stderr).not.toContain("--save-options");
});

it.each(["--include docs/**", "--drop-access"])(
  "is not told of where it could not keep a flag: %s",
  async (flag) => {
    const service = await startTestService({ files });
    const ran = await runIn(service, `ingest docs --cc-pair-id 2 --tag x ${flag}`, { answer: "" });
    expect(ran.code).toBe(0);
    expect(ran.stderr).not.toContain("--save-options");
  },
);

it("keeps what else of a run has a place in the file", async () => {
  const service = await startTestService({ files });
  const line = "ingest docs --cc-pair-id 2 --require-access public --concurrency 2 --rate 50";
  expect(await runIn(service, `${line} --save-options`)).toMatchObject({ code: 0 });
  expect(configOf(service)).toMatchObject({
    ingest: { requireAccess: ["public"], concurrency: 2, rate: 50 },
  });
});

it("says which options changed how many documents", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest docs more --cc-pair-id 2 --sections headings --tag t1");
  writeFiles(service.folder, { "more/b.md": "# B\n\nOther.\n" });
  const line = "ingest docs more --cc-pair-id 2";
  const dry = await runIn(service, `${line} --dry-run`);
  expect(dry.stderr).toContain("1 changed: sections headings → whole, tags t1 → none");
  const ran = await runIn(service, line);
  expect(ran.stderr).toContain("1 changed: sections headings → whole, tags t1 → none");
  expect(ran.stderr).toContain("2 updated");
});

it("warns where other options give documents other ids", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
  const dry = await runIn(service, "ingest docs --cc-pair-id 2 --dry-run");
  const message = "1 document will be sent under another id (id prefix kb/ → none)";
  expect(dry.stderr).toContain(message);
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).stderr).toContain(message);
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).stderr).not.toContain(message);
  const advised =
    "ingest orphans docs --cc-pair-id 2 --class other-options --tombstone --max-delete 1 --yes";
  const { code, stdout } = await runIn(service, advised);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^tombstoned\tdocs\/a\.md\tkb\/docs\/a\.md\t/m);
});

it("warns of other ids also where the file was changed meanwhile", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
  writeFiles(service.folder, { "docs/a.md": "# A\n\nOther.\n" });
  const message = "1 document will be sent under another id (id prefix kb/ → none)";
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).stderr).toContain(message);
});

it("warns where the front matter gives a document another id", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest docs --cc-pair-id 2");
  writeFiles(service.folder, { "docs/a.md": "---\nid: own\n---\n# A\n" });
  const message = "1 document will be sent under another id (the id in its file changed)";
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).stderr).toContain(message);
});

it("warns of other ids where an earlier knowctl recorded no options", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
  const state = await openDatabase(join(service.folder, ".knowctl", "state.db"));
  state.exec("UPDATE accepted SET options = NULL");
  state.close();
  const message = "1 document will be sent under another id (recorded by an earlier knowctl";
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).stderr).toContain(message);
});

it("does not warn of rows that moved", async () => {
  const service = await startTestService({ files: { "p.csv": "id,text\n1,One\n2,Two\n" } });
  await runIn(service, "ingest p.csv --cc-pair-id 2");
  writeFiles(service.folder, { "p.csv": "id,text\n0,Zero\n1,One\n2,Two\n" });
  const ran = await runIn(service, "ingest p.csv --cc-pair-id 2 --tag x");
  expect(ran.stderr).toContain("1 created");
  expect(ran.stderr).not.toContain("another id");
});

it("warns of other ids of rows, also of changed ones", async () => {
  const service = await startTestService({ files: { "p.csv": "sku,text\n1,One\n2,Two\n" } });
  await runIn(service, "ingest p.csv --cc-pair-id 2 --map id=sku");
  const message = "will be sent under another id (map changed)";
  const dry = await runIn(service, "ingest p.csv --cc-pair-id 2 --dry-run");
  expect(dry.stderr).toContain(`2 documents ${message}`);
  writeFiles(service.folder, { "p.csv": "sku,text\n1,One!\n2,Two\n" });
  const ran = await runIn(service, "ingest p.csv --cc-pair-id 2");
  expect(ran.stderr).toContain(`2 documents ${message}`);
  expect((await runIn(service, "ingest p.csv --cc-pair-id 2")).stderr).not.toContain(message);
});
