import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestService, startTestService, writeFiles } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";
import { listGone } from "./support.ts";

describe("orphan classes", () => {
  const prune = "prune . --cc-pair-id 2 --yes --max-delete 100%";

  async function stored(service: TestService): Promise<string[]> {
    const answer = await fetch(`${service.sandbox.url}/api/onyx-api/ingestion`, {
      headers: { authorization: `Bearer ${service.env["KNOWCTL_API_KEY"]}` },
    });
    const all = (await answer.json()) as { document_id: string }[];
    return all.map((each) => decodeURIComponent(each.document_id)).toSorted();
  }

  const classes = (service: TestService, paths = ""): Promise<string[]> =>
    listGone(service, `${paths} --cc-pair-id 2`.trim());

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
      await expectRun(service, `${line} --cc-pair-id 2`, 0);
    }
    return service;
  }

  const all = ["drafts/d.md", "one/a/x.md", "s1", "s2", "two/b/y.md"];

  describe("a document is judged by the options that it was sent with", () => {
    it("deletes nothing whose file still yields it under them", async () => {
      const service = await startMixed();
      for (const paths of ["", ".", "a", "prices.csv"]) {
        expect(await classes(service, paths)).toEqual([]);
      }
      for (const paths of [".", "prices.csv"]) {
        expect(await runIn(service, prune.replace(".", paths))).toMatchObject({
          code: 0,
          stdout: "",
          stderr: expect.stringContaining("nothing to remove"),
        });
      }
      expect(await stored(service)).toEqual(all);
      // A row that is gone is judged by the mapping that it was sent with.
      writeFiles(service.folder, { "prices.csv": "sku,name,text\ns2,Two,second\n" });
      for (const paths of ["prices.csv", ".", ""]) {
        expect(await classes(service, paths)).toEqual(["row-gone s1"]);
      }
      await expectRun(service, prune.replace(".", "prices.csv"), 0);
      expect(await stored(service)).toEqual(all.filter((id) => id !== "s1"));
    });

    it("of a file that was sent with several options, by the last ones", async () => {
      const service = await startTestService({ files: { "a.md": "# A\n" }, dialect: "onyx" });
      for (const prefix of ["one/", "two/"]) {
        const line = `ingest . --id-prefix ${prefix} --cc-pair-id 2`;
        await expectRun(service, line, 0);
      }
      expect(await classes(service)).toEqual(["other-options one/a.md"]);
      await expectRun(service, prune, 0, "1 other-options");
      expect(await stored(service)).toEqual(["one/a.md", "two/a.md"]);
    });

    it("says which options made them, and deletes them with --class other-options alone", async () => {
      const service = await startTestService({ files, dialect: "onyx" });
      await runIn(service, "ingest a --cc-pair-id 2 --id-prefix one/");
      await runIn(service, "ingest a --cc-pair-id 2 --id-prefix new/");
      expect(await classes(service, "a")).toEqual(["other-options one/a/x.md"]);
      const line = prune.replace(".", "a");
      await expectRun(service, line, 0);
      expect(await stored(service)).toContain("one/a/x.md");
      const { stdout } = await runIn(
        service,
        `${line.replace("--yes", "--dry-run")} --class other-options --json`,
      );
      expect(JSON.parse(stdout)).toMatchObject([
        { class: "other-options", reason: expect.stringContaining("id prefix one/ → new/") },
      ]);
      await expectRun(service, `${line} --class other-options`, 0);
      expect(await stored(service)).toEqual(["new/a/x.md"]);
    });

    it("keeps what a configuration of today would name differently", async () => {
      const config = (idPrefix: string): string => JSON.stringify({ ingest: { idPrefix } });
      const docs = { "docs/a.md": "# A\n", ".cliconfig.json": config("x/") };
      const given = await startTestService({ files: docs, dialect: "onyx" });
      const service = { ...given, env: { ...given.env, KNOWCTL_TRUST_PROJECT: "1" } };
      await runIn(service, "ingest docs --cc-pair-id 2");
      writeFiles(service.folder, { ".cliconfig.json": config("y/") });
      expect(await classes(service, "docs")).toEqual(["other-options x/docs/a.md"]);
      await expectRun(service, prune, 0);
      expect(await stored(service)).toEqual(["x/docs/a.md"]);
    });
  });

  describe("a document whose file is there, but left out", () => {
    const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", "docs/c.md": "# C\n" };

    it("is excluded, whatever leaves it out", async () => {
      const put = (include: string[], exclude: string[] = []): Record<string, string> => ({
        ".cliconfig.json": JSON.stringify({ ingest: { include, exclude } }),
      });
      const service = await startTestService({
        files: { ...docs, ...put(["docs/**"]) },
        dialect: "onyx",
      });
      await runIn(service, "ingest --cc-pair-id 2");
      const expectExcluded = async (paths: string): Promise<void> => {
        expect(await classes(service, paths)).toEqual(["excluded docs/a.md"]);
        const removal = `prune ${paths} --cc-pair-id 2 --yes --max-delete 2`.replace("  ", " ");
        await expectRun(service, removal, 0);
        expect(await stored(service)).toHaveLength(3);
      };
      writeFiles(service.folder, { ".knowctlignore": "a.md\n" });
      await expectExcluded("docs");
      rmSync(join(service.folder, ".knowctlignore"));
      writeFiles(service.folder, put(["docs/**"], ["docs/a.md"]));
      await expectExcluded("docs");
      writeFiles(service.folder, put(["docs/b.md", "docs/c.md"]));
      await expectExcluded("");
      const removal = "prune --cc-pair-id 2 --yes --max-delete 2 --class excluded --class shared";
      await expectRun(service, removal, 0);
      expect(await stored(service)).toEqual(["docs/b.md", "docs/c.md"]);
    });

    it("is named by the plan and by the upload", async () => {
      const service = await startTestService({ files: docs, dialect: "onyx" });
      await runIn(service, "ingest docs --cc-pair-id 2");
      writeFiles(service.folder, { ".knowctlignore": "a.md\n" });
      rmSync(join(service.folder, "docs/c.md"));
      const dry = await runIn(service, "ingest docs --cc-pair-id 2 --dry-run --json");
      const { documents } = JSON.parse(dry.stdout) as { documents: { action: string }[] };
      expect(documents.filter(({ action }) => action === "gone")).toMatchObject([
        { class: "excluded", id: "docs/a.md" },
        { class: "gone", id: "docs/c.md" },
      ]);
      const ran = await runIn(
        service,
        "ingest docs --exclude docs/b.md --cc-pair-id 2 --allow-empty",
      );
      expect(ran.stderr).toContain("2 excluded, 1 gone");
      expect(ran.stderr).toContain("knowctl status");
    });
  });

  it("a document whose file opts out", async () => {
    const kinds = {
      "docs/draft.md": "---\ndraft: true\n---\n# A\n\nText.\n",
      "docs/ingest.md": "---\ningest: false\n---\n# A\n\nText.\n",
      "docs/no-text.md": "---\ntitle: A\n---\n",
    };
    const names = Object.keys(kinds);
    const docs = Object.fromEntries(
      [...names, "docs/b.md"].map((name) => [name, "# A\n\nText.\n"]),
    );
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, kinds);
    const again = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(again.stderr).toContain(
      "3 uploaded files opt out now: the documents are still in the service",
    );
    expect(await classes(service)).toEqual(names.map((name) => `opted-out ${name}`));
    await expectRun(service, prune, 0);
    expect(await stored(service)).toHaveLength(4);
    await expectRun(service, `${prune} --class opted-out`, 0);
    expect(await stored(service)).toEqual(["docs/b.md"]);
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
    expect(await classes(service)).toEqual(["gone a/x.md"]);
  });

  it("leaves a removal notice alone after another pair has sent a document under its id", async () => {
    const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    rmSync(join(service.folder, "docs/a.md"));
    const removal = "prune docs --cc-pair-id 2 --tombstone --yes";
    await expectRun(service, removal, 0);
    writeFiles(service.folder, { "docs/a.md": "# A\n" });
    await expectRun(service, "ingest docs --cc-pair-id 7", 0);
    rmSync(join(service.folder, "docs/a.md"));
    expect(await classes(service, "docs")).toEqual([]);
  });

  it("lists no document that a file outside the inputs holds for another pair", async () => {
    const docs = {
      "docs/a.md": "---\nid: x\n---\n# A\n",
      "docs/b.md": "# B\n",
      "other/c.md": "# C\n",
    };
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    renameSync(join(service.folder, "docs/a.md"), join(service.folder, "other/a.md"));
    expect(await classes(service, "docs")).toEqual(["gone x"]);
    await expectRun(service, "ingest other --cc-pair-id 7", 0);
    expect(await classes(service, "docs")).toEqual([]);
  });

  it("lists a document whose file was renamed before it was gone", async () => {
    const docs = { "docs/a.md": "---\nid: x\n---\n# A\n", "docs/z.md": "# Z\n" };
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    renameSync(join(service.folder, "docs/a.md"), join(service.folder, "docs/b.md"));
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    rmSync(join(service.folder, "docs/b.md"));
    expect(await classes(service, "docs")).toEqual(["gone x"]);
  });

  it("keeps a file that was sent with --no-ignore, and is ignored without it", async () => {
    const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", ".knowctlignore": "docs/a.md\n" };
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await expectRun(service, "ingest . --no-ignore --cc-pair-id 2", 0);
    expect(await classes(service)).toEqual([]);
    const ran = await runIn(service, prune);
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(ran.stderr).toContain("judged by the flags of the uploads: --no-ignore");
  });

  it("a document that one pair loses is sent again to another pair that has it recorded", async () => {
    const docs = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
    const service = await startTestService({ files: docs, dialect: "onyx" });
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    await expectRun(service, "ingest docs --cc-pair-id 7", 0);
    writeFiles(service.folder, { ".knowctlignore": "docs/\n", "c.md": "# C\n" });
    const removal = "prune . --cc-pair-id 7 --yes --max-delete 100%";
    await expectRun(
      service,
      `${removal} --class excluded --class shared`,
      0,
      "2 documents deleted",
    );
    expect(await stored(service)).toEqual([]);
    rmSync(join(service.folder, ".knowctlignore"));
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    expect(await stored(service)).toEqual(["docs/a.md", "docs/b.md"]);
  });
});

describe("imported", () => {
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
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
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
    it("of no file of this project are foreign: listed apart, and kept", async () => {
      const service = await startProject();
      for (const record of [
        // Of no file, of a file with another id, of a row, and with the prefix of another project.
        { id: "other/team.md", path: "gone.md" },
        { id: "other/team.md", path: "docs/1.md" },
        { id: "sku-7", path: "prices.csv", part: 7 },
        { id: "other/docs/x.md", path: "docs/x.md" },
      ]) {
        await importInto(service, [record]);
        const listed = await runIn(service, "status --cc-pair-id 2 --json");
        expect(JSON.parse(listed.stdout)).toMatchObject({
          documents: [{ id: record.id, class: "foreign" }],
        });
        await expectRun(service, prune, 0, "1 foreign");
        expect((await runIn(service, "state list --json")).stdout).toContain(record.id);
        await expectRun(service, `${prune} --class foreign`, 0);
        expect((await runIn(service, "state list --json")).stdout).not.toContain(record.id);
      }
      // One whose id is made of its path is an orphan like own ones.
      await importInto(service, [{ id: "docs/old.md", path: "docs/old.md" }]);
      expect((await runIn(service, "status --cc-pair-id 2")).stdout).toContain("gone");
    });

    it("whose path is the id of another project's document are foreign", async () => {
      const service = await startTestService({ dialect: "onyx", files: { "docs/q.md": "# Q\n" } });
      const upload = "ingest docs --id-prefix q/ --cc-pair-id 2";
      await expectRun(service, upload, 0);
      await importInto(service, [{ id: "w/docs/p4.md", path: "w/docs/p4.md" }]);
      await expectRun(service, `${prune} --max-delete 100%`, 0, "1 foreign");
      expect((await runIn(service, "state list --json")).stdout).toContain("w/docs/p4.md");
    });

    it("with options that name the prefix of another project are foreign", async () => {
      const service = await startTestService({ dialect: "onyx", files: { "docs/q.md": "# Q\n" } });
      const upload = "ingest docs --id-prefix q/ --cc-pair-id 2";
      await expectRun(service, upload, 0);
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

    it("do not raise the limit of a removal, whatever they are of", async () => {
      const service = await startProject();
      // Documents that no file has, files that are no documents, hidden ones, and other spellings of an id.
      const padding: ((n: number) => Sent)[] = [
        (n) => ({ id: `x${n}`, path: `p${n}.md` }),
        (n) => ({ id: `node_modules/${n}.js`, path: `node_modules/${n}.js` }),
        (n) => ({ id: `.hidden/${n}.md`, path: `.hidden/${n}.md` }),
        (n) => ({ id: `docs/${n % 10}.md#${n}`, path: `docs/${n % 10}.md`, part: n }),
      ];
      for (const folder of ["node_modules/N.js", ".hidden/N.md"]) {
        const files = numbers(300).map((n) => [folder.replace("N", String(n)), "x"]);
        writeFiles(service.folder, Object.fromEntries(files) as Record<string, string>);
      }
      const before = idsOf(service);
      for (const path of paths.slice(0, 5)) rmSync(join(service.folder, path));
      for (const record of padding) {
        await importInto(service, numbers(300).map(record));
        await expectRun(service, prune, 2, "--max-delete allows 1");
      }
      expect(idsOf(service)).toEqual(before);
    });
  });
});
