import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

const prune = "ingest orphans . --cc-pair-id 2 --prune --yes --max-delete 100%";

async function stored(service: TestService): Promise<string[]> {
  const answer = await fetch(`${service.sandbox.url}/api/onyx-api/ingestion`, {
    headers: { authorization: `Bearer ${service.env["KNOWCTL_API_KEY"]}` },
  });
  const all = (await answer.json()) as { document_id: string }[];
  return all.map((each) => decodeURIComponent(each.document_id)).toSorted();
}

async function classes(service: TestService, line = "ingest orphans ."): Promise<string[]> {
  const { stdout } = await runIn(service, [
    ...line.split(" "),
    "--cc-pair-id",
    "2",
    "-o",
    "ndjson",
  ]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text) as { class: string; id: string })
    .map((each) => `${each.class} ${each.id}`);
}

const files = {
  "a/x.md": "# X\n\nText.\n",
  "b/y.md": "# Y\n\nText.\n",
  "drafts/d.md": "---\ndraft: true\n---\n# D\n\nText.\n",
  "prices.csv": "sku,name,text\ns1,One,first\ns2,Two,second\n",
};

/** Documents of folders, rows and drafts, each sent with its own flags. */
async function startMixed(): Promise<TestService> {
  const service = await startTestService({ files, dialect: "onyx" });
  for (const line of [
    "ingest a --id-prefix one/",
    "ingest b --id-prefix two/",
    "ingest drafts --drafts",
    "ingest prices.csv --map id=sku,title=name,text=text",
  ]) {
    expect(await runIn(service, `${line} --cc-pair-id 2`)).toMatchObject({ code: 0 });
  }
  return service;
}

const all = ["drafts/d.md", "one/a/x.md", "s1", "s2", "two/b/y.md"];

describe("a document is judged by the options that it was sent with", () => {
  it("deletes nothing whose file still yields it under them, whatever flags are left out", async () => {
    const service = await startMixed();
    const listed = ["other-options drafts/d.md", "other-options one/a/x.md"];
    expect((await classes(service)).toSorted()).toEqual([...listed, "other-options two/b/y.md"]);
    expect(await classes(service, "ingest orphans prices.csv")).toEqual([
      "other-options s1",
      "other-options s2",
    ]);
    const ran = await runIn(service, prune);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain("3 other-options");
    expect(await runIn(service, prune.replace(".", "prices.csv"))).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(all);
  });

  it("deletes nothing of a file that was sent with several options", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n" }, dialect: "onyx" });
    for (const prefix of ["one/", "two/"]) {
      const line = `ingest . --id-prefix ${prefix} --cc-pair-id 2`;
      expect(await runIn(service, line)).toMatchObject({ code: 0 });
    }
    expect(await classes(service)).toEqual(["other-options one/a.md", "other-options two/a.md"]);
    expect(await runIn(service, prune)).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(["one/a.md", "two/a.md"]);
  });

  it("says which options made them, and deletes them with --class other-options alone", async () => {
    const service = await startMixed();
    const { stdout } = await runIn(service, "ingest orphans a --cc-pair-id 2 --json");
    expect(JSON.parse(stdout)).toMatchObject([
      { class: "other-options", reason: expect.stringContaining("id prefix one/ → none") },
    ]);
    expect(await classes(service, "ingest orphans a --id-prefix one/")).toEqual([]);
    await runIn(service, "ingest a --cc-pair-id 2 --id-prefix new/");
    expect(await classes(service, "ingest orphans a --id-prefix new/")).toEqual([
      "other-options one/a/x.md",
    ]);
    const line = `${prune.replace(".", "a")} --id-prefix new/`;
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    expect(await stored(service)).toContain("one/a/x.md");
    expect(await runIn(service, `${line} --class other-options`)).toMatchObject({ code: 0 });
    const left = ["drafts/d.md", "new/a/x.md", "s1", "s2", "two/b/y.md"];
    expect(await stored(service)).toEqual(left);
  });

  it("lists a row that is gone as row-gone, by the mapping that it was sent with", async () => {
    const service = await startMixed();
    writeFiles(service.folder, { "prices.csv": "sku,name,text\ns2,Two,second\n" });
    const expected = ["row-gone s1", "other-options s2"];
    expect(await classes(service, "ingest orphans prices.csv")).toEqual(expected);
    const map = "ingest orphans prices.csv --map id=sku,title=name,text=text";
    expect(await classes(service, map)).toEqual(["row-gone s1"]);
    // A folder does not yield tables, but the one that was sent is there to be read.
    expect((await classes(service)).filter((each) => / s[12]$/.test(each))).toEqual([
      "row-gone s1",
    ]);
    const line = prune.replace(".", "prices.csv");
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(all.filter((id) => id !== "s1"));
  });

  it("keeps what a configuration of today would name differently", async () => {
    const config = (idPrefix: string): string => JSON.stringify({ ingest: { idPrefix } });
    const docs = { "docs/a.md": "# A\n", ".cliconfig.json": config("x/") };
    const given = await startTestService({ files: docs, dialect: "onyx" });
    const service = { ...given, env: { ...given.env, KNOWCTL_TRUST_PROJECT: "1" } };
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, { ".cliconfig.json": config("y/") });
    expect(await classes(service, "ingest orphans docs")).toEqual(["other-options x/docs/a.md"]);
    expect(await runIn(service, prune)).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(["x/docs/a.md"]);
  });
});

describe("a document whose file is there, but left out", () => {
  const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", "docs/c.md": "# C\n" };

  it.each([
    ["an ignore file", "ingest orphans docs", { ".knowctlignore": "a.md\n" }],
    ["--exclude", "ingest orphans docs --exclude docs/a.md", {}],
    [
      "a narrower include",
      "ingest orphans",
      { ".cliconfig.json": '{"ingest":{"include":["docs/b.md","docs/c.md"]}}' },
    ],
  ])("is excluded: %s", async (_name, line, change) => {
    const config = { ".cliconfig.json": '{"ingest":{"include":["docs/**"]}}' };
    const service = await startTestService({ files: { ...docs, ...config }, dialect: "onyx" });
    await runIn(service, "ingest --cc-pair-id 2");
    writeFiles(service.folder, change);
    expect(await classes(service, line)).toEqual(["excluded docs/a.md"]);
    const removal = `${line} --cc-pair-id 2 --prune --yes --max-delete 2`;
    expect(await runIn(service, removal)).toMatchObject({ code: 0 });
    expect(await stored(service)).toHaveLength(3);
    expect(await runIn(service, `${removal} --class excluded`)).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(["docs/b.md", "docs/c.md"]);
  });

  it("is named by the plan and by the upload", async () => {
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, { ".knowctlignore": "a.md\n" });
    rmSync(join(service.folder, "docs/c.md"));
    const dry = await runIn(service, "ingest docs --cc-pair-id 2 --dry-run --json");
    const { documents } = JSON.parse(dry.stdout) as { documents: { action: string }[] };
    expect(documents.filter(({ action }) => action === "orphaned")).toMatchObject([
      { class: "excluded", id: "docs/a.md" },
      { class: "gone", id: "docs/c.md" },
    ]);
    const ran = await runIn(
      service,
      "ingest docs --exclude docs/b.md --cc-pair-id 2 --allow-empty",
    );
    expect(ran.stderr).toContain("2 excluded, 1 gone");
    expect(ran.stderr).toContain("knowctl ingest orphans");
  });
});

describe("a document whose file opts out", () => {
  it.each([
    ["a draft", "---\ndraft: true\n---\n# A\n\nText.\n"],
    ["ingest: false", "---\ningest: false\n---\n# A\n\nText.\n"],
    ["no text any more", "---\ntitle: A\n---\n"],
  ])("%s", async (_name, text) => {
    const docs = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n" };
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, { "docs/a.md": text });
    const again = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(again.stderr).toContain(
      "1 uploaded file opts out now: the document is still in the service",
    );
    expect(await classes(service)).toEqual(["opted-out docs/a.md"]);
    expect(await runIn(service, prune)).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(["docs/a.md", "docs/b.md"]);
    expect(await runIn(service, `${prune} --class opted-out`)).toMatchObject({ code: 0 });
    expect(await stored(service)).toEqual(["docs/b.md"]);
  });
});

it("does not list a document of another pair, nor an imported one as gone", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  await runIn(service, "ingest a --cc-pair-id 1");
  expect(await classes(service)).toEqual([]);
  await runIn(service, "ingest b --cc-pair-id 2 --id-prefix old/");
  const { stdout } = await runIn(service, "state export");
  const lines = stdout
    .replace('"version":2', '"version":1')
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith('{"type":"options"'))
    .map((line) => line.replace(/,"options":"[0-9a-f]+"/, ""));
  const end = JSON.stringify({ type: "end", records: lines.length - 2 });
  const old = `${lines.slice(0, -1).join("\n")}\n${end}\n`;
  await runIn(service, "state forget --all --yes");
  expect(await runIn(service, "state import - --yes", { stdin: old })).toMatchObject({
    code: 0,
  });
  expect(await classes(service)).toEqual(["foreign old/b/y.md"]);
});

it("takes the whole project root where nothing else says what to look at", async () => {
  const service = await startTestService({ files: { "a/x.md": "# X\n", "b/y.md": "# Y\n" } });
  await runIn(service, "ingest a b --cc-pair-id 2");
  rmSync(join(service.folder, "a"), { recursive: true });
  expect(await classes(service, "ingest orphans")).toEqual(["gone a/x.md"]);
});

it("leaves a removal notice alone after another pair has sent a document under its id", async () => {
  const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
  const service = await startTestService({ files: docs, dialect: "onyx" });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  rmSync(join(service.folder, "docs/a.md"));
  const removal = "ingest orphans docs --cc-pair-id 2 --tombstone --yes";
  expect(await runIn(service, removal)).toMatchObject({ code: 0 });
  writeFiles(service.folder, { "docs/a.md": "# A\n" });
  expect(await runIn(service, "ingest docs --cc-pair-id 7")).toMatchObject({ code: 0 });
  rmSync(join(service.folder, "docs/a.md"));
  expect(await classes(service, "ingest orphans docs")).toEqual([]);
});

it("lists no document that a file outside the inputs holds for another pair", async () => {
  const docs = {
    "docs/a.md": "---\nid: x\n---\n# A\n",
    "docs/b.md": "# B\n",
    "other/c.md": "# C\n",
  };
  const service = await startTestService({ files: docs, dialect: "onyx" });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  renameSync(join(service.folder, "docs/a.md"), join(service.folder, "other/a.md"));
  expect(await classes(service, "ingest orphans docs")).toEqual(["gone x"]);
  expect(await runIn(service, "ingest other --cc-pair-id 7")).toMatchObject({ code: 0 });
  expect(await classes(service, "ingest orphans docs")).toEqual([]);
});

it("lists a document whose file was renamed before it was gone", async () => {
  const docs = { "docs/a.md": "---\nid: x\n---\n# A\n", "docs/z.md": "# Z\n" };
  const service = await startTestService({ files: docs, dialect: "onyx" });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  renameSync(join(service.folder, "docs/a.md"), join(service.folder, "docs/b.md"));
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  rmSync(join(service.folder, "docs/b.md"));
  expect(await classes(service, "ingest orphans docs")).toEqual(["gone x"]);
});

it("names a file that was sent with --no-ignore, and is ignored without it", async () => {
  const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", ".knowctlignore": "docs/a.md\n" };
  const service = await startTestService({ files: docs, dialect: "onyx" });
  expect(await runIn(service, "ingest . --no-ignore --cc-pair-id 2")).toMatchObject({ code: 0 });
  expect(await classes(service)).toEqual(["other-options docs/a.md"]);
  const { stdout } = await runIn(service, "ingest orphans . --cc-pair-id 2 --json");
  expect(stdout).toContain("sent with --no-ignore");
});

it("a document that one pair loses is sent again to another pair that has it recorded", async () => {
  const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
  const service = await startTestService({ files: docs, dialect: "onyx" });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  expect(await runIn(service, "ingest docs --cc-pair-id 7")).toMatchObject({ code: 0 });
  const removal = "ingest orphans . --id-prefix kb/ --cc-pair-id 7 --prune --yes --max-delete 100%";
  const ran = await runIn(service, `${removal} --class other-options`);
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("2 documents deleted") });
  expect(await stored(service)).toEqual([]);
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  expect(await stored(service)).toEqual(["docs/a.md", "docs/b.md"]);
});
