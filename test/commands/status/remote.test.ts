import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { closeAll, startHttp } from "../../api/support.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";
import { remove, send } from "./support.ts";

afterEach(closeAll);

const files = {
  "docs/1.md": "# One\n\nText.\n",
  "docs/2.md": "# Two\n\nText.\n",
  "docs/a b/c%.md": "# Odd\n\nName.\n",
};

/** Three documents of `docs` in pair 2. */
async function startSent(line = "ingest docs --cc-pair-id 2"): Promise<TestService> {
  const service = await startTestService({ files, dialect: "onyx" });
  await expectRun(service, line, 0);
  return service;
}

interface Item {
  id: string;
  path: string | null;
  result: string;
  ccPairId: number;
}

async function differences(service: TestService, flags = ""): Promise<string[]> {
  const line = `status --remote ${flags} -o json`.replace(/ +/g, " ");
  const { stdout, stderr } = await runIn(service, line);
  expect(stdout, stderr).not.toBe("");
  const { documents } = JSON.parse(stdout) as { documents: Item[] };
  // What differs from the record alone is told without --remote.
  const remote = documents.filter(({ result }) => /-|extra|elsewhere/.test(result));
  return remote.map(({ result, path, id, ccPairId }) => `${result} ${path ?? id} ${ccPairId}`);
}

describe("status --remote", () => {
  it("finds no difference after an upload, also for ids that are encoded", async () => {
    const service = await startSent();
    expect(await differences(service)).toEqual([]);
    expect(await runIn(service, "status --remote --cc-pair-id 2 --exit-code")).toEqual({
      code: 0,
      stdout: "",
      stderr: "no difference; the service lists 3 documents\n",
    });
    // Nor of no document.
    mkdirSync(join(service.folder, "empty"));
    const empty = await runIn(service, "status --remote empty --cc-pair-id 2");
    expect(empty).toMatchObject({ code: 2, stdout: "" });
    expect(empty.stderr).toContain("nothing to compare: no file of empty yields a document");
    // Nor by the records of another service.
    const other = await startTestService({ dialect: "onyx" });
    const env = { ...service.env, KNOWCTL_BASE_URL: other.sandbox.url };
    const ran = await runIn({ folder: service.folder, env }, "status --remote docs --cc-pair-id 2");
    expect(ran.stdout).toContain("not sent: 3 documents");
    expect(ran.stdout).not.toContain("gone there");
    // Nor where a file is gone.
    rmSync(join(service.folder, "docs/a b/c%.md"));
    expect(await runIn(service, "status --remote --cc-pair-id 2 --exit-code")).toEqual({
      code: 12,
      stdout: "gone: 1 document\n  docs/a b/c%.md (gone)\n",
      stderr: "gone: `knowctl prune` removes them from the service\nerror: 1 document differs\n",
    });
  });

  it("counts no row of a file that the command does not name", async () => {
    const service = await startSent();
    writeFiles(service.folder, { "docs/rows.csv": "id,title,text\nr1,T,hello\n" });
    await runIn(service, "ingest docs/rows.csv --cc-pair-id 2");
    const unnamed = "no difference; the service lists 4 documents\n";
    expect(await runIn(service, "status --remote --cc-pair-id 2")).toMatchObject({
      stderr: unnamed,
    });
    writeFiles(service.folder, { "docs/rows.csv": "id,title,text\nr2,T,hello\n" });
    expect(await runIn(service, "status --remote --cc-pair-id 2")).toMatchObject({
      stdout: expect.stringContaining("gone: 1 document\n  docs/rows.csv (row-gone)\n"),
    });
  });

  it("knows the options of an upload beside another orphan of the same file", async () => {
    const service = await startSent();
    writeFiles(service.folder, { "docs/1.md": "---\ndraft: true\n---\n# One\n\nText.\n" });
    await runIn(service, "ingest docs --cc-pair-id 2 --drafts --id-prefix old/");
    // Two orphans of docs/1.md: opted out under the first options, sent under the second ones.
    const ran = await runIn(
      service,
      "status --remote docs --cc-pair-id 2 --drafts --id-prefix new/",
    );
    expect(ran.stdout).toBe("");
  });

  it("names each kind of difference and the next command", async () => {
    const service = await startSent();
    await remove(service, "docs/a b/c%.md");
    await send(service, 2, "old page.md");
    writeFiles(service.folder, { "docs/new.md": "# New\n", "docs/moved.md": "# Moved\n" });
    await runIn(service, "ingest docs/moved.md --cc-pair-id 4");
    const ran = await expectRun(service, "status --remote --cc-pair-id 2 --exit-code", 12);
    expect(ran.stdout).toBe(
      [
        "not sent: 1 document",
        "  docs/new.md",
        "gone there: 1 document",
        "  docs/a b/c%.md",
        "extra: 1 document",
        "  old_page.md",
        "elsewhere: 1 document",
        "  docs/moved.md (pair 4)",
        "",
      ].join("\n"),
    );
    expect(ran.stderr).toContain("knowctl state forget PATH");
    expect(ran.stderr).toContain("knowctl prune --extra");
    expect(ran.stderr).toContain("4 documents differ");
  });

  it("follows its own advice: the document is sent again", async () => {
    const service = await startSent();
    await remove(service, "docs/1.md");
    expect(await differences(service)).toEqual(["gone-there docs/1.md 2"]);
    await runIn(service, "state forget docs/1.md");
    await runIn(service, "ingest docs --cc-pair-id 2");
    expect(await differences(service)).toEqual([]);
  });

  it("prints ndjson and jq, and advises an upload that has something to send", async () => {
    const service = await startSent();
    writeFiles(service.folder, { "docs/new.md": "# New\n" });
    const { stdout } = await runIn(service, "status --remote -o ndjson");
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      {
        version: 1,
        type: "document",
        id: "docs/new.md",
        path: "docs/new.md",
        result: "not-sent",
        class: null,
        ccPairId: 2,
      },
      {
        version: 1,
        type: "result",
        command: "status",
        run: expect.any(String),
        host: "host-of-the-test",
        summary: {
          unchanged: 3,
          new: 0,
          changed: 0,
          failed: 0,
          gone: 0,
          classes: {
            gone: 0,
            excluded: 0,
            "other-options": 0,
            "row-gone": 0,
            "opted-out": 0,
            adopted: 0,
            foreign: 0,
          },
          listed: 3,
          "not-sent": 1,
          "gone-there": 0,
          extra: 0,
          elsewhere: 0,
          unreadable: 0,
        },
      },
    ]);
    const picked = await runIn(service, ["status", "--remote", "--jq", ".documents[].path"]);
    expect(picked.stdout).toBe("docs/new.md\n");
    const fields = await runIn(service, "status --remote --fields summary.not-sent");
    expect(JSON.parse(fields.stdout)).toEqual({ summary: { "not-sent": 1 } });
    await expectRun(service, "status --remote --jq . -o text", 2);
    const ran = await runIn(service, "status --remote --cc-pair-id 2 --exit-code");
    expect(ran.stderr).toContain("not sent: `knowctl ingest PATH --cc-pair-id 2` sends them\n");
    expect(ran.stderr).toContain("error: 1 document differs\n");
    writeFiles(service.folder, { ".cliconfig.json": '{"ingest":{"include":["docs/**"]}}' });
    const configured = await runIn(service, "status --remote --cc-pair-id 2");
    expect(configured.stderr).toContain("not sent: `knowctl ingest --cc-pair-id 2` sends them\n");
  });

  it("limits files and records to the paths, and finds no extra documents there", async () => {
    const service = await startSent();
    writeFiles(service.folder, { "other/new.md": "# New\n", "docs/new.md": "# New\n" });
    await remove(service, "docs/1.md");
    await send(service, 2, "old.md");
    expect(await differences(service, "other")).toEqual(["not-sent other/new.md 2"]);
    expect(await differences(service, "docs")).toEqual([
      "not-sent docs/new.md 2",
      "gone-there docs/1.md 2",
    ]);
    const summary = await runIn(service, "status --remote docs --jq .summary.extra");
    expect(summary.stdout).toBe("null\n");
    expect(await differences(service, ".")).toContain("extra old.md 2");
  });

  it("calls only ids below the prefix extra, and none with a file", async () => {
    const service = await startSent("ingest docs --cc-pair-id 2 --id-prefix kb/");
    for (const id of ["kb/old.md", "kb/docs/draft.md", "kb/docs/draft one.md", "kb/rows.csv#7"]) {
      await send(service, 2, id);
    }
    await send(service, 2, "wiki/old.md");
    await send(service, 2, "knowledge");
    const draft = "---\ndraft: true\n---\n# Draft\n";
    writeFiles(service.folder, {
      "docs/draft.md": draft,
      "docs/draft one.md": "# Ignored\n",
      ".knowctlignore": "draft one.md\n",
      "rows.csv": "a,b\n",
    });
    expect(await differences(service, "")).toEqual(["extra kb/old.md 2"]);
  });

  it("calls nothing extra that a record knows by the id in the response", async () => {
    const service = await startSent();
    rmSync(join(service.folder, "docs/1.md"));
    const database = await openDatabase(join(service.folder, ".knowctl/state.db"));
    database.exec(
      "UPDATE accepted SET id = 'One', path = 'docs/1.md', stored_id = 'docs%2F1.md' WHERE id = 'docs/1.md'",
    );
    database.close();
    expect(await differences(service)).toEqual([]);
  });

  it("calls nothing extra while a file cannot be read", async () => {
    const service = await startSent();
    await send(service, 2, "old.md");
    writeFiles(service.folder, { "docs/2.md": new Uint8Array([0xff, 0]) });
    const ran = await runIn(service, "status --remote --exit-code");
    expect(ran).toMatchObject({ code: 10, stdout: "failed last time: 1 document\n  docs/2.md\n" });
    expect(ran.stderr).toContain("docs/2.md");
    expect(ran.stderr).toContain("extra documents were not determined");
  });

  it("says nothing of a document that opted out or is excluded, unless it is gone there", async () => {
    const service = await startSent();
    writeFiles(service.folder, {
      "docs/1.md": "---\ndraft: true\n---\n# One\n",
      ".knowctlignore": "2.md\n",
    });
    expect(await differences(service)).toEqual([]);
    await remove(service, "docs/1.md");
    await remove(service, "docs/2.md");
    expect(await differences(service)).toEqual([
      "gone-there docs/1.md 2",
      "gone-there docs/2.md 2",
    ]);
  });

  it("judges a document by the options recorded with it", async () => {
    const service = await startSent("ingest docs --cc-pair-id 2 --id-prefix old/");
    expect(await differences(service)).toEqual([]);
    await remove(service, "old/docs/1.md");
    expect(await differences(service)).toEqual(["gone-there docs/1.md 2"]);
  });

  it("compares each document with its own pair", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    const rules = [{ match: "docs/2.md", ccPairId: 4 }];
    writeFiles(service.folder, {
      ".cliconfig.json": JSON.stringify({ ingest: { ccPairId: 2, include: ["docs"], rules } }),
    });
    const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
    await runIn(trusted, "ingest");
    expect(await differences(trusted)).toEqual([]);
    await send(service, 4, "old.md");
    await remove(service, "docs/2.md");
    expect(await differences(trusted)).toEqual(["gone-there docs/2.md 4", "extra old.md 4"]);
    expect((await runIn(trusted, "status --remote")).stdout).toContain("  docs/2.md (pair 4)\n");
  });

  it("counts a document of two pairs once", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    const rules = [{ match: "nothing", ccPairId: 4 }];
    writeFiles(service.folder, {
      ".cliconfig.json": JSON.stringify({ ingest: { ccPairId: 2, include: ["docs"], rules } }),
    });
    const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
    await runIn(trusted, "ingest");
    await runIn(trusted, "ingest --cc-pair-id 4");
    expect((await runIn(trusted, "status --remote")).stderr).toBe(
      "no difference; the service lists 3 documents\n",
    );
    rmSync(join(service.folder, "docs/1.md"));
    expect((await runIn(trusted, "status --remote")).stdout).toBe(
      "gone: 1 document\n  docs/1.md (gone, pair 2)\n",
    );
    await remove(service, "docs/1.md");
    await send(service, 2, "docs/0.md");
    await send(service, 4, "docs/0.md");
    expect(await differences(trusted)).toEqual(["gone-there docs/1.md 2", "extra docs/0.md 2"]);
    const { code, stdout, stderr } = await runIn(trusted, "status --remote --exit-code");
    expect(stdout).toContain("gone there: 1 document\n");
    expect(stdout).toContain("extra: 1 document\n");
    // Its file is gone, too: one document, one difference.
    expect(stdout).not.toContain("gone:");
    expect(stderr).toContain("2 documents differ");
    expect(code).toBe(12);
  });

  it("counts a document once, whatever differs about it", async () => {
    const service = await startSent();
    writeFiles(service.folder, { "docs/new.md": new Uint8Array([0xff, 0]) });
    expect((await runIn(service, "ingest docs/new.md --cc-pair-id 2")).code).toBe(10);
    // Failed last time and not sent; changed and gone there; gone and gone there.
    writeFiles(service.folder, { "docs/new.md": "# New\n", "docs/1.md": "# One\n\nOther.\n" });
    await remove(service, "docs/1.md");
    await remove(service, "docs/2.md");
    rmSync(join(service.folder, "docs/2.md"));
    const { stdout, stderr } = await runIn(service, "status --remote --exit-code --json");
    const { documents } = JSON.parse(stdout) as { documents: Item[] };
    expect(documents.map(({ path, result }) => `${result} ${path}`)).toEqual([
      "failed docs/new.md",
      "gone-there docs/1.md",
      "gone-there docs/2.md",
    ]);
    expect(stderr).toContain("3 documents differ");
  });

  it("tells removal notices and the records of other pairs apart", async () => {
    const service = await startSent("ingest docs/1.md docs/2.md --cc-pair-id 4");
    await runIn(service, "ingest docs/2.md --cc-pair-id 2");
    rmSync(join(service.folder, "docs/1.md"));
    const tombstone = "prune docs --cc-pair-id 4 --tombstone --yes --max-delete 1";
    await expectRun(service, tombstone, 0);
    rmSync(join(service.folder, "docs/2.md"));
    await send(service, 2, "docs/1.md");
    // Both are listed: one as a notice of pair 4, the other with a record of its own.
    expect(await differences(service, "--cc-pair-id 2 docs/1.md docs/2.md")).toEqual([]);
    expect(await differences(service, "--cc-pair-id 4 docs/1.md docs/2.md")).toEqual([]);
    writeFiles(service.folder, { "docs/1.md": "# Back\n" });
    const again = ["not-sent docs/1.md 4", "not-sent docs/a b/c%.md 4"];
    expect(await differences(service, "--cc-pair-id 4")).toEqual(again);
    await remove(service, "docs/1.md");
    expect(await differences(service, "docs/1.md --cc-pair-id 2")).toEqual([
      "not-sent docs/1.md 2",
    ]);
  });

  it("compares without a state, and creates none", async () => {
    const service = await startSent("ingest docs/1.md --cc-pair-id 2 --no-state");
    const ran = await runIn(service, "status --remote docs --cc-pair-id 2");
    expect(ran.stdout).toContain("not sent: 2 documents");
    expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
  });

  it("calls nothing gone where the list is damaged, failing or refused", async () => {
    const { folder, env } = await startSent();
    for (const [status, body, code] of [
      [200, '[{"document_id":"docs%2F1.md"}', 8],
      [500, '{"detail":"no"}', 8],
      [403, '{"detail":"no"}', 4],
    ] as const) {
      const { url } = await startHttp((_request, response) => {
        response.writeHead(status, { "content-type": "application/json" }).end(body);
      });
      const ran = await runIn(
        { folder, env: { ...env, KNOWCTL_BASE_URL: url } },
        "status --remote docs --cc-pair-id 2 -o json",
      );
      expect(ran, String(status)).toMatchObject({ code, stdout: "" });
    }
  });

  it("needs a dialect that lists, and a permission", async () => {
    const service = await startSent();
    const standard = await runIn(service, "status --remote --cc-pair-id 2 --dialect standard");
    expect(standard).toMatchObject({ code: 9, stdout: "" });
    expect(standard.stderr).toContain("the standard dialect cannot list the documents of a pair");
    expect(standard.stderr).toContain("use --dialect onyx");
    const unknown = await runIn(service, "status --remote --cc-pair-id 77");
    expect(unknown).toMatchObject({ code: 4, stdout: "" });
    expect(unknown.stderr).toContain("403 if it has no pair 77");
    await expectRun(service, "status --remote nowhere", 2);
  });
});
