import { appendFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { replaceInFileSystem } from "../../file-system.ts";
import type { FaultAction, FaultRule } from "../../../src/sandbox/http/faults.ts";
import {
  type TestService,
  type TestServiceOptions,
  startTestService,
  writeFiles,
} from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";
import { storedIn } from "../status/support.ts";

describe("shared", () => {
  const removal = "--yes --max-delete 100%";
  const zebra = "docs/zebra.md";
  const gone = { [zebra]: "# Zebra\n", "docs/own.md": "# Own\n" };
  // Files that stay: a folder without any recorded file is refused.
  const left = Object.fromEntries(["1", "2"].map((name) => [`docs/left-${name}.md`, "# Left\n"]));
  const files = { ...gone, ...left };

  /** Another folder of the same service, with a state of its own. */
  function otherProject({ folder, env }: TestService): Pick<TestService, "folder" | "env"> {
    const other = join(folder, "../other");
    mkdirSync(join(other, ".git"), { recursive: true });
    writeFiles(other, { [zebra]: "# Zebra of the others\n" });
    return { folder: other, env };
  }

  /** Two projects, in the pairs 2 and 7, that share docs/zebra.md; the first has no files any more. */
  async function startTwo(options: TestServiceOptions = {}) {
    const service = await startTestService({ dialect: "onyx", files, ...options });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    const other = otherProject(service);
    await expectRun(other, "ingest docs --cc-pair-id 7 --overwrite", 0);
    for (const path of Object.keys(gone)) rmSync(join(service.folder, path));
    return { service, other };
  }

  const deletions = ({ sandbox }: TestService): number =>
    sandbox.ledger.requests.filter(({ method }) => method === "DELETE").length;

  describe("a document that another pair has too", () => {
    it("is kept, and named with the ways on; the others are deleted", async () => {
      const { service, other } = await startTwo();
      await expectRun(
        service,
        `prune docs ${removal}`,
        10,
        "kept: docs/zebra.md (pair 7 (",
        "error: 1 document was kept: another pair has it too",
        "knowctl state forget ID",
        "knowctl prune --class shared",
      );
      expect(deletions(service)).toBe(1);
      expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
      expect((await runIn(other, "ingest docs --cc-pair-id 7")).stderr).toContain("1 unchanged");
      await expectRun(service, `state forget ${zebra} --yes`, 0);
      await expectRun(service, `prune docs ${removal}`, 0);
      expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
    });

    it("is a row of the output, and removed with --class shared", async () => {
      const { service } = await startTwo();
      const ran = await runIn(
        service,
        `prune docs ${removal} --output tsv --fields status,path,reason`,
      );
      const reason = "kept: pair 7 (Release notes) has it too";
      const rows = ["deleted\tdocs/own.md\tthe file is gone", `kept\t${zebra}\t${reason}`];
      expect(ran.stdout.trim().split("\n").toSorted()).toEqual(rows);
      expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
      await expectRun(service, `prune docs --class shared ${removal}`, 0);
      expect(await storedIn(service, 7)).toEqual([]);
    });

    it("is no removal notice either", async () => {
      const { service } = await startTwo();
      await expectRun(service, `prune docs --tombstone ${removal}`, 10);
      expect(service.sandbox.ledger.documents.get(zebra)).toHaveLength(2);
      expect(service.sandbox.ledger.documents.get("docs/own.md")).toHaveLength(2);
    });

    it("is found although it arrived while the question stood", async () => {
      const service = await startTestService({ dialect: "onyx", files });
      await runIn(service, "ingest docs --cc-pair-id 2");
      for (const path of Object.keys(gone)) rmSync(join(service.folder, path));
      expect((await runIn(service, "prune docs --dry-run --max-delete 100%")).code).toBe(0);
      await runIn(otherProject(service), "ingest docs --cc-pair-id 7 --overwrite");
      expect((await runIn(service, `prune docs ${removal}`)).code).toBe(10);
      expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
    });
  });

  const connectors = "/api/manage/admin/connector/status";
  const pairList = "/api/onyx-api/connector-docs/7";
  const failing: [string, string, FaultAction, number][] = [
    ["the list of a pair is refused", pairList, { status: 403, body: { detail: "no" } }, 4],
    ["the list of connectors is refused", connectors, { status: 403, body: { detail: "no" } }, 4],
    ["the list of a pair fails", pairList, { status: 500 }, 8],
    ["the list of connectors fails", connectors, { status: 500 }, 8],
    ["the list ends in the middle", pairList, { status: 200, body: '[{"document_id":"a"},{"d' }, 8],
    ["the list is cut", pairList, { body: '[{"document_id":"a"},{"d', cutAfterBytes: 20 }, 8],
    ["the list has another shape", pairList, { status: 200, body: { items: [] } }, 8],
    ["ids have a wrong type", pairList, { status: 200, body: [{ document_id: 7 }] }, 8],
    [
      "a pair has an id of a wrong type",
      connectors,
      { status: 200, body: [{ cc_pair_id: 2 }, { cc_pair_id: "7" }] },
      8,
    ],
    [
      "a pair is unknown",
      connectors,
      { status: 200, body: [{ cc_pair_id: 2 }, { cc_pair_id: 99 }] },
      4,
    ],
    ["the own pair is not listed", connectors, { status: 200, body: [{ cc_pair_id: 7 }] }, 4],
  ];

  describe("nothing is removed", () => {
    it("where the lists of the service are no proof", async () => {
      const rules: FaultRule[] = [];
      const { service } = await startTwo({ faults: { rules } });
      for (const [damage, path, action, code] of failing) {
        rules.splice(0, 1, { when: { method: "GET", path }, do: action });
        const ran = await runIn(service, `prune docs ${removal}`);
        expect(ran.code, damage).toBe(code);
        expect(ran.stderr, damage).toMatch(/nothing was removed|list connectors/);
      }
      // The same for every pair.
      const body = [zebra, "docs/own.md"].map((id) => ({ document_id: id.replace("/", "%2F") }));
      const path = "/api/onyx-api/connector-docs/";
      rules.splice(0, 1, { when: { method: "GET", path }, do: { status: 200, body } });
      expect((await runIn(service, `prune docs ${removal}`)).code).toBe(10);
      expect(deletions(service)).toBe(0);
      rules.length = 0;
      expect(await storedIn(service, 2)).toContain("docs%2Fown.md");
    });
  });

  describe("an interface that cannot list", () => {
    it("is named before the question", async () => {
      const { service } = await startTwo({ dialect: "standard" });
      const answered = await runIn(service, "prune docs --tombstone --max-delete 100%", {
        answer: "n\n",
      });
      expect(answered.stderr).toMatch(/this service cannot be asked[^?]*Replace 2 documents/);
      expect(service.sandbox.ledger.documents.get(zebra)).toHaveLength(2);
    });
  });

  it("an adopted document outside the prefix is not removed without --class adopted", async () => {
    const other = "---\nid: theirs\n---\n# Theirs\n";
    const service = await startTestService({
      dialect: "onyx",
      files: { "docs/a.md": other, "docs/b.md": "# B\n", ...left },
    });
    await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
    rmSync(join(service.folder, ".knowctl"), { recursive: true });
    const again = await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
    expect(again.stderr).toContain("adopted");
    for (const name of ["a", "b"]) rmSync(join(service.folder, `docs/${name}.md`));
    await expectRun(service, `prune docs ${removal}`, 0, "1 adopted");
    const stay = Object.keys(left).map((path) => `kb%2F${path.replace("/", "%2F")}`);
    expect((await storedIn(service, 2)).toSorted()).toEqual([...stay, "theirs"]);
    expect((await runIn(service, `prune docs --class adopted ${removal}`)).code).toBe(0);
    expect((await storedIn(service, 2)).toSorted()).toEqual(stay);
  });
});

describe("shared ids", () => {
  const files = Object.fromEntries(
    ["a", "b", "c"].map((name) => [`docs/${name}.md`, `# Page ${name}\n\nThe text of ${name}.\n`]),
  );
  const removal = "--yes --max-delete 100%";

  /** A folder in the pairs 2 and 7, without the file docs/a.md. */
  async function startShared(options: TestServiceOptions) {
    const service = await startTestService({ ...options, files });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
    expect((await runIn(service, "ingest docs --cc-pair-id 7")).code).toBe(0);
    rmSync(join(service.folder, "docs/a.md"));
    return service;
  }

  it("what is deleted in one pair is recorded in no other", async () => {
    const service = await startShared({ dialect: "onyx" });
    const prune = `prune docs --cc-pair-id 2 ${removal}`;
    expect(
      (await runIn(service, "prune docs --cc-pair-id 2 --dry-run --max-delete 100%")).stderr,
    ).toContain("by the state, other pairs have 1 document of these: prune keeps it");
    await expectRun(service, `${prune} --class shared`, 0);
    expect(await storedIn(service, 7)).toEqual(["docs%2Fb.md", "docs%2Fc.md"]);
    const upload = await runIn(service, "ingest docs --cc-pair-id 7");
    expect(upload.stderr).not.toContain("still in the service");
    const listed = await runIn(service, "prune docs --cc-pair-id 7 --dry-run");
    expect(listed).toMatchObject({ code: 0, stdout: "" });
    await service.sandbox.idle();
    await expectRun(service, "status --remote docs --cc-pair-id 7 --exit-code", 0);
    expect((await runIn(service, "verify --cc-pair-id 7")).code).toBe(0);
    writeFiles(service.folder, { "docs/a.md": files["docs/a.md"]! });
    expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain(
      "done: 1 created",
    );
  });

  it("a deletion that fails leaves the records of all pairs", async () => {
    const service = await startShared({
      dialect: "onyx",
      faults: {
        rules: [
          { when: { method: "DELETE", first: 1 }, do: { status: 400, body: { detail: "no" } } },
        ],
      },
    });
    const prune = `prune docs --cc-pair-id 2 --class shared ${removal}`;
    expect((await runIn(service, prune)).code).toBe(10);
    for (const pair of [2, 7]) {
      const { stdout } = await runIn(service, `prune docs --cc-pair-id ${pair} --dry-run`);
      expect(stdout).toContain("docs/a.md");
    }
  });

  it("what becomes a removal notice in one pair is sent again to the other", async () => {
    const service = await startShared({});
    const tombstone = `prune docs --cc-pair-id 2 --tombstone ${removal}`;
    await expectRun(service, tombstone, 10, "kept: docs/a.md (pair 7 has it too)");
    await expectRun(service, `${tombstone} --class shared`, 0);
    const upload = await runIn(service, "ingest docs --cc-pair-id 7");
    expect(upload.stderr).not.toContain("still in the service");
    const listed = await runIn(service, "prune docs --cc-pair-id 7 --tombstone --dry-run");
    expect(listed).toMatchObject({ code: 0, stdout: "" });
    writeFiles(service.folder, { "docs/a.md": files["docs/a.md"]! });
    expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain(
      "done: 1 updated",
    );
  });

  it("a removal notice for a file that another pair still uploads is no notice there", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    for (const pair of [2, 7]) await runIn(service, `ingest docs --cc-pair-id ${pair}`);
    writeFiles(service.folder, {
      ".cliconfig.json": JSON.stringify({ ingest: { exclude: ["docs/a.md"] } }),
    });
    service.env["KNOWCTL_TRUST_PROJECT"] = "1";
    const options = `--class excluded --class shared ${removal}`;
    const tombstone = `prune docs --cc-pair-id 2 --tombstone ${options}`;
    expect((await runIn(service, tombstone)).code).toBe(0);
    rmSync(join(service.folder, ".cliconfig.json"));
    await service.sandbox.idle();
    expect((await runIn(service, "verify --cc-pair-id 7")).code).toBe(13);
    expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain(
      "done: 1 updated",
    );
  });
});

describe("rule pairs", () => {
  const config = {
    ingest: {
      include: ["docs/**/*.md"],
      ccPairId: 2,
      rules: [{ match: "docs/hr/**", ccPairId: 7 }],
    },
  };

  /** A service, and a project whose configuration is trusted. */
  async function startTrusted(options: TestServiceOptions) {
    const service = await startTestService(options);
    return { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
  }

  async function startWithRule() {
    const service = await startTrusted({
      dialect: "onyx",
      files: {
        ".cliconfig.json": JSON.stringify(config),
        "docs/a.md": "# A\n\nOne.\n",
        "docs/hr/h.md": "# H\n\nTwo.\n",
      },
    });
    expect((await runIn(service, "ingest")).code).toBe(0);
    return service;
  }

  it("orphans of a pair that only a rule names are told by each command", async () => {
    const service = await startWithRule();
    expect((await runIn(service, "prune")).stderr).toContain("nothing to remove of pair 2\n");
    rmSync(join(service.folder, "docs/hr"), { recursive: true });
    expect((await runIn(service, "ingest --dry-run --verbose")).stdout).toContain("docs/hr/h.md");
    expect((await runIn(service, "ingest")).stderr).toContain("1 uploaded file is no longer found");
    const listed = await runIn(service, "prune");
    expect(listed.stderr).toContain(
      "1 document of pair 7, which a rule names, has no file: see `knowctl prune --cc-pair-id 7 --dry-run`",
    );
    const standard = await runIn(service, "prune --tombstone --dialect standard");
    expect(standard.stderr).toContain("see `knowctl prune --tombstone --cc-pair-id 7 --dry-run`");
    const own = "prune --cc-pair-id 7 --dry-run";
    expect((await runIn(service, own)).stdout).toContain("docs/hr/h.md");
    for (const line of ["status", "status --remote"]) {
      const { stdout, stderr } = await runIn(service, line);
      expect(stdout).toBe("gone: 1 document\n  docs/hr/h.md (gone, pair 7)\n");
      expect(stderr).not.toContain("no difference");
    }
    // A pair from a flag overrides the rule: only that pair is looked at.
    const other = await runIn(service, "prune --cc-pair-id 2");
    expect(other.stderr).not.toContain("pair 7");
  });

  it("orphans of a pair that only a rule names are told after a removal from another pair", async () => {
    const service = await startWithRule();
    writeFiles(service.folder, { "docs/kept.md": "# Kept\n\nThree.\n" });
    expect((await runIn(service, "ingest")).code).toBe(0);
    rmSync(join(service.folder, "docs/hr"), { recursive: true });
    rmSync(join(service.folder, "docs/a.md"));
    await expectRun(
      service,
      "prune --yes --max-delete 90%",
      0,
      "1 document deleted",
      "1 document of pair 7, which a rule names",
    );
  });

  it("a file with an id of its own that moved and changed is not told as gone", async () => {
    const service = await startTestService({
      dialect: "onyx",
      files: { "docs/a.md": "---\nid: own\n---\n# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" },
    });
    await runIn(service, "ingest docs --cc-pair-id 2");
    renameSync(join(service.folder, "docs/a.md"), join(service.folder, "docs/y.md"));
    appendFileSync(join(service.folder, "docs/y.md"), "more\n");
    const ran = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(ran.stderr).toContain("1 updated");
    expect(ran.stderr).not.toContain("no longer found");
  });

  it("files of a folder that cannot be read are not told as gone", async () => {
    const service = await startTestService({ files: { "docs/a.md": "# A\n\nOne.\n" } });
    await runIn(service, "ingest . --cc-pair-id 2");
    const docs = join(service.folder, "docs");
    replaceInFileSystem("readdirSync", (actual) => (folder: string, ...others: unknown[]) => {
      if (folder === docs) throw Object.assign(new Error("EIO"), { code: "EIO" });
      return actual(folder, ...others);
    });
    const { stderr } = await runIn(service, "ingest . --cc-pair-id 2");
    expect(stderr).toContain("failed docs: the folder cannot be read: the disk failed");
    expect(stderr).not.toContain("no longer found");
  });

  it("a dry run of a retry names what failed, and no orphans", async () => {
    const service = await startTrusted({
      files: {
        ".cliconfig.json": JSON.stringify({ ingest: { include: ["docs/**/*.md"] } }),
        "docs/a.md": "# A\n\nOne.\n",
        "docs/z.md": "---\ndate: nope\n---\n# Z\n\nTwo.\n",
      },
    });
    expect((await runIn(service, "ingest --cc-pair-id 2")).code).toBe(10);
    writeFiles(service.folder, { "docs/z.md": "# Z\n\nTwo.\n" });
    const { code, stdout, stderr } = await runIn(service, "retry --dry-run");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^create\s+docs\/z\.md\s.*\n$/),
    });
    expect(stderr).not.toContain("gone");
  });
});
