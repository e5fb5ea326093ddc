import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { dialects } from "../../../src/api/dialects.ts";
import { closeAll } from "../../api/support.ts";
import { remove, send, storedIn } from "../status/support.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";
import { startGitService } from "../ingest/support.ts";

afterEach(closeAll);

const files = Object.fromEntries(
  Array.from({ length: 6 }, (_, index) => [`docs/${index}.md`, `# ${index}\n\nText.\n`]),
);
const prefix = "--id-prefix kb/";
const list = "prune --extra --max-delete 3 --dry-run";
const prune = "prune --extra --max-delete 3 --yes";

/** Six documents below the prefix `kb/`, and documents that another tool sent. */
async function startWith(extra: readonly string[]): Promise<TestService> {
  const service = await startTestService({ files, dialect: "onyx" });
  await expectRun(service, `ingest docs --cc-pair-id 2 ${prefix}`, 0);
  for (const id of extra) await send(service, 2, id);
  return service;
}

/** Refused, and all documents are still there. */
async function expectKept(
  service: TestService,
  line: string,
  reason: string,
  code = 2,
): Promise<void> {
  const before = await storedIn(service, 2);
  await expectRun(service, line, code, reason);
  expect(await storedIn(service, 2)).toEqual(before);
}

describe("prune --extra", () => {
  it("shows what only the service has below the prefix, after the orphans of the state", async () => {
    const service = await startWith(["kb/old page%.md", "wiki/x.md"]);
    rmSync(join(service.folder, "docs/0.md"));
    const ran = await expectRun(service, `${list} -o json`, 0);
    expect(JSON.parse(ran.stdout)).toEqual([
      {
        status: "gone",
        path: "docs/0.md",
        row: null,
        id: "kb/docs/0.md",
        class: "gone",
        stored_id: "kb%2Fdocs%2F0.md",
        reason: "the file is gone",
      },
      {
        status: "extra",
        path: null,
        row: null,
        id: "kb/old_page%.md",
        class: "extra",
        stored_id: "kb%2Fold_page%25.md",
        reason: "no file and no record of this project has it",
      },
    ]);
    expect(await storedIn(service, 2)).toHaveLength(8);
  });

  it("deletes them, and names each one before", async () => {
    const service = await startWith(["kb/old page%.md", "kb/b.md", "wiki/x.md"]);
    const ran = await runIn(service, `${prune} -q`);
    expect(ran).toMatchObject({
      code: 0,
      stderr: "to be removed: kb/b.md\nto be removed: kb/old_page%.md\n",
    });
    expect(ran.stdout).toMatch(
      /^deleted\t\tkb\/b\.md\textra\t[^]*\ndeleted\t\tkb\/old_page%\.md\t/,
    );
    const left = await storedIn(service, 2);
    expect(left).toHaveLength(7);
    expect(left).toContain("wiki%2Fx.md");
    // Then there is nothing.
    expect(await runIn(service, `${list} --cc-pair-id 2 -q`)).toMatchObject({
      code: 0,
      stdout: "",
    });
    expect(await runIn(service, prune)).toMatchObject({ code: 0, stdout: "" });
  });

  it("deletes orphans of the state as well, and forgets them", async () => {
    const service = await startWith(["kb/b.md"]);
    rmSync(join(service.folder, "docs/0.md"));
    await expectRun(service, prune, 0);
    expect(await storedIn(service, 2)).toHaveLength(5);
    expect((await runIn(service, "state list -o tsv")).stdout).not.toContain("docs/0.md");
  });

  it("asks on a terminal, and needs --yes without one", async () => {
    const service = await startWith(["kb/b.md"]);
    const asked = await runIn(service, prune.replace(" --yes", ""), { answer: "n\n" });
    expect(asked.stderr).toContain("to be removed: kb/b.md");
    expect(asked.stderr).toContain("Delete 1 document of Handbook uploads");
    await expectKept(service, prune.replace(" --yes", ""), "confirm with --yes");
    expect((await runIn(service, list)).stdout).toMatch(/^extra\t\tkb\/b\.md/);
    expect(await storedIn(service, 2)).toContain("kb%2Fb.md");
  });

  it("keeps a document that another pair has too", async () => {
    const service = await startWith(["kb/b.md", "kb/c.md"]);
    await send(service, 4, "kb/b.md");
    await send(service, 1, "kb/c.md");
    const ran = await runIn(service, prune);
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(ran.stderr).toContain("kept: kb/b.md (pair 4 (");
    expect(ran.stderr).toContain("kept: kb/c.md (pair 1 has it too)");
    expect(await storedIn(service, 2)).toHaveLength(8);
  });

  it("deletes nothing where the service does not list the pairs", async () => {
    const rules: FaultRule[] = [];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    await runIn(service, `ingest docs --cc-pair-id 2 ${prefix}`);
    await send(service, 2, "kb/b.md");
    for (const [body, reason, code] of [
      [[], "does not see pair 2", 4],
      // Only another connector.
      [[{ cc_pair_id: 4, name: "Wiki" }], "does not see pair 2", 4],
      [[{ cc_pair_id: 2 }, { cc_pair_id: null, name: "Wiki" }], "some have no readable pair", 8],
    ] as const) {
      const path = "/api/manage/admin/connector/status";
      rules.splice(0, 1, { when: { path }, do: { body } });
      await expectKept(service, prune, reason, code);
    }
  });

  it("counts --max-delete against the recorded documents", async () => {
    const service = await startWith(["kb/a.md", "kb/b.md"]);
    const line = prune.replace("--max-delete 3", "--max-delete 20%");
    await expectKept(service, line, "--max-delete allows 1 (20 % of 6)");
  });

  it.each([
    ["no prefix", "", "needs one id prefix"],
    [
      "a prefix that only begins like this project's",
      "--id-prefix kb",
      "must end with a separator",
    ],
  ])("deletes nothing with %s", async (_name, flag, reason) => {
    const service = await startTestService({ files, dialect: "onyx" });
    await runIn(service, `ingest docs --cc-pair-id 2 ${flag}`.trim());
    await send(service, 2, "kb/b.md");
    await send(service, 2, "kx/b.md");
    await expectKept(service, prune, reason);
  });

  it.each(["kb", "kb.", "kb-", "kb ", "kbé"])(
    'deletes nothing of the prefix "%s", with which the ids of another project may begin',
    async (idPrefix) => {
      const service = await startTestService({ files, dialect: "onyx" });
      writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest: { idPrefix } }) });
      const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
      await runIn(trusted, "ingest docs --cc-pair-id 2");
      await expectKept(trusted, prune, "must end with a separator");
    },
  );

  it.each(["k/", "kb/docs/"])(
    "deletes nothing of a configured prefix that no record has: %s",
    async (idPrefix) => {
      const service = await startTestService({ files, dialect: "onyx" });
      await runIn(service, "ingest docs --cc-pair-id 2");
      await send(service, 2, "kb/docs/b.md");
      writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest: { idPrefix } }) });
      const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
      await expectKept(trusted, prune, "no recorded document has the id prefix");
    },
  );

  it("keeps a document whose id is not the path of a file", async () => {
    const ids = ["kb/", "kb/../x.md", "kb//docs/x.md", "kb/custom", "kb/./x.md"];
    const service = await startWith([...ids, "kb/gone.md"]);
    // Not uploaded from here: its file is excluded, so nobody reads its id.
    writeFiles(service.folder, { "docs/out.md": "---\nid: kb/custom\n---\n# Out\n\nText.\n" });
    writeFiles(service.folder, { ".knowctlignore": "out.md\n" });
    const ran = await runIn(service, prune);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deleted\t\tkb\/gone/) });
    expect(ran.stderr).toContain("kept: kb/custom (not the path of a file");
    const left = await storedIn(service, 2);
    for (const id of ids) expect(left).toContain(dialects.onyx.storedId!(id));
    expect(left).not.toContain("kb%2Fgone.md");
  });

  it("works on the whole project root only", async () => {
    const service = await startWith(["kb/b.md"]);
    const whole = "only the whole project root";
    await expectKept(service, prune.replace("prune", "prune docs"), whole);
    writeFiles(service.folder, { ".cliconfig.json": '{"ingest":{"include":["docs"]}}' });
    const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
    await expectKept(trusted, prune, whole);
    await expectRun(trusted, prune.replace("prune", "prune ."), 0);
  });

  it("deletes nothing where the state records fewer than half of the listed documents", async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `wiki/${index}.md`);
    const service = await startWith([...ids, "kb/b.md"]);
    await expectKept(service, prune, "records only 6 of the 14 documents of pair 2");
    await remove(service, "wiki/0.md");
    await remove(service, "wiki/1.md");
    await expectRun(service, prune, 0);
  });

  it("deletes nothing while a file cannot be read", async () => {
    const service = await startWith(["kb/b.md"]);
    writeFiles(service.folder, { "docs/2.md": new Uint8Array([0xff, 0]) });
    await expectKept(service, prune, "1 file or folder cannot be read");
  });

  it("deletes nothing from an incomplete checkout", async () => {
    const service = await startGitService({ files, dialect: "onyx" });
    await runIn(service, `ingest docs --cc-pair-id 2 ${prefix}`);
    await send(service, 2, "kb/b.md");
    // Else git takes the files for changed ones, and leaves them there.
    service.git("update-index", "-q", "--refresh");
    service.git("sparse-checkout", "set", "--no-cone", "/*", "!/docs/3.md");
    await expectKept(service, prune, "docs/3.md, which git tracks");
    service.git("sparse-checkout", "disable");
    rmSync(join(service.folder, "docs/4.md"));
    await expectKept(service, prune, "docs/4.md, which git tracks");
    service.commit();
    await expectRun(service, prune, 0);
    expect(await storedIn(service, 2)).toHaveLength(5);
  });

  it("excludes --tombstone, and needs a dialect that lists", async () => {
    const service = await startWith(["kb/b.md"]);
    await expectKept(service, `${prune} --tombstone`, "--extra and --tombstone exclude");
    const standard = await runIn(service, `${prune} --dialect standard --cc-pair-id 2`);
    expect(standard).toMatchObject({ code: 9, stdout: "" });
    expect(standard.stderr).toContain("cannot list the documents of a pair");
    expect(standard.stderr).not.toContain("--tombstone");
  });
});
