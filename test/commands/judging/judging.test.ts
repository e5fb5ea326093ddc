import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { type TestService, startTestService, writeFiles } from "../../service.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";
import { type Ran, expectRun, runIn } from "../state/support.ts";
import { rmSync } from "node:fs";

describe("imported flags", () => {
  type Place = Pick<TestService, "folder" | "env">;

  const files = { "docs/a.md": "# A\n\nOne.\n", "notes/b.md": "# B\n\nTwo.\n" };

  /** Another checkout of the project, with the records of this one. */
  async function importElsewhere(
    { env, sandbox }: TestService,
    exported: string,
    more: Record<string, string> = {},
  ): Promise<Place> {
    const home = temporaryFolder();
    const folder = join(home, "elsewhere");
    writeFiles(folder, { ".git/HEAD": "", ...files, ...more });
    const { KNOWCTL_API_KEY: key = "" } = env;
    const variables = { KNOWCTL_BASE_URL: sandbox.url, KNOWCTL_API_KEY: key };
    const place = { folder, env: cleanEnvironment(home, variables) };
    const ran = await runIn(place, "state import - --yes", { stdin: exported });
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    return place;
  }

  async function statusOf(place: Place): Promise<string[]> {
    const { stdout, stderr } = await runIn(place, "status --json");
    expect(stdout, stderr).not.toBe("");
    const { documents } = JSON.parse(stdout) as { documents: { result: string; id: string }[] };
    return documents.map(({ result, id }) => `${result} ${id}`);
  }

  /** An export with an upload that somebody wrote. */
  function withUpload(exported: string, change: (upload: Record<string, unknown>) => void): string {
    return exported.replace(/^\{"type":"upload".*$/m, (line) => {
      const upload = JSON.parse(line) as Record<string, unknown>;
      change(upload);
      return JSON.stringify(upload);
    });
  }

  async function startSent(): Promise<{ service: TestService; exported: string }> {
    const service = await startTestService({ files });
    const ran = await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/ --tag a");
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const { stdout } = await runIn(service, "state export");
    return { service, exported: stdout };
  }

  describe("the flags of an upload in an imported state", () => {
    it("judge a new file as on the machine of the upload", async () => {
      const { service, exported } = await startSent();
      const added = { "docs/new.md": "# New\n", "notes/new.md": "# New\n" };
      writeFiles(service.folder, added);
      const here = await statusOf(service);
      expect(here).toEqual(["new kb/docs/new.md"]);
      expect(await statusOf(await importElsewhere(service, exported, added))).toEqual(here);
    });

    it("give way to a later upload from here, and to none that is older", async () => {
      const { service, exported } = await startSent();
      await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix own/ --allow-id-change");
      await runIn(service, "state import - --yes", { stdin: exported });
      writeFiles(service.folder, { "docs/new.md": "# New\n" });
      expect((await statusOf(service))[0]).toBe("new own/docs/new.md");
    });

    it("select no hidden and no ignored file", async () => {
      const { service, exported } = await startSent();
      const hidden = {
        ".secret/x.md": "# Secret\n",
        "ignored/y.md": "# Ignored\n",
        ".gitignore": "ignored\n",
      };
      for (const input of [".secret", "ignored", ".secret/x.md", ".secret/*.md"]) {
        const written = withUpload(exported, (upload) => (upload["inputs"] = ["docs", input]));
        expect(written).not.toBe(exported);
        expect(await statusOf(await importElsewhere(service, written, hidden))).toEqual([]);
      }
    });

    it("are refused with inputs that are no paths below the root", async () => {
      const { service, exported } = await startSent();
      const above = [["../x"], ["/etc"], ["a//b"], ["a/../../b"], ["a\0b"]];
      for (const inputs of [...above, [7], "docs", null]) {
        const stdin = withUpload(exported, (upload) => (upload["inputs"] = inputs));
        const ran = await runIn(service, "state import - --yes", { stdin });
        expect(ran, JSON.stringify(inputs)).toMatchObject({ code: 2, stdout: "" });
        expect(ran.stderr).toContain("inputs: expected a list of paths below the project root");
      }
    });

    it("cover nothing with a pattern that would take too long", async () => {
      const { service, exported } = await startSent();
      const written = withUpload(exported, (upload) => {
        upload["inputs"] = [`${"*a".repeat(40)}*`];
      });
      const place = await importElsewhere(service, written, { "docs/new.md": "# New\n" });
      expect((await runIn(place, "status")).code).toBe(0);
    });

    it("of a stopped upload stay where it was stopped", async () => {
      const { service, exported } = await startSent();
      expect(exported.match(/"type":"upload"/g)).toHaveLength(1);
      const database = await openDatabase(join(service.folder, ".knowctl/state.db"));
      database.exec("UPDATE uploads SET ended = 0");
      database.close();
      expect((await runIn(service, "state export")).stdout).not.toContain('"type":"upload"');
      const later = withUpload(
        exported,
        (upload) => (upload["startedAt"] = "2090-01-01T00:00:00Z"),
      );
      await runIn(service, "state import - --yes", { stdin: later });
      expect((await runIn(service, "state export")).stdout).not.toContain('"type":"upload"');
    });
  });
});

describe("recorded flags", () => {
  interface Item {
    id: string | null;
    path: string;
    result: string;
    class: string | null;
  }

  /** The differences of `status`, a line each. */
  async function differences(service: TestService, paths = ""): Promise<string[]> {
    const ran = await runIn(service, `status${paths} --json`);
    expect(ran.stdout, ran.stderr).not.toBe("");
    const { documents } = JSON.parse(ran.stdout) as { documents: Item[] };
    return documents.map(({ result, id, path, class: name }) =>
      [result, id ?? path, name].filter((each) => each !== null).join(" "),
    );
  }

  async function run(service: TestService, line: string): Promise<Ran> {
    const ran = await runIn(service, line);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    return ran;
  }

  const titles = ({ sandbox }: TestService): string[] =>
    [...sandbox.ledger.documents.values()]
      .flatMap((versions) => versions.slice(-1))
      .map((each) => JSON.stringify(each));

  const rowFiles = [
    {
      name: "p.csv",
      rows: (...rows: [string, string, string][]) =>
        ["sku,name,notes", ...rows.map((each) => each.join(","))].join("\n"),
    },
    {
      name: "p.json",
      rows: (...rows: [string, string, string][]) =>
        JSON.stringify(rows.map(([sku, name, notes]) => ({ sku, name, notes }))),
    },
    {
      name: "p.ndjson",
      rows: (...rows: [string, string, string][]) =>
        rows.map(([sku, name, notes]) => JSON.stringify({ sku, name, notes })).join("\n"),
    },
  ];
  const map = "--map id=sku,title=name,text=notes";

  describe.each(rowFiles)("rows of $name that were sent with --map", ({ name, rows }) => {
    const one = ["s1", "Lamp", "A lamp for the desk."] as [string, string, string];
    const two = ["s2", "Chair", "A chair for the office."] as [string, string, string];

    async function startSent(): Promise<TestService> {
      const service = await startTestService({
        dialect: "onyx",
        files: { [name]: rows(one, two) },
      });
      await run(service, `ingest ${name} --cc-pair-id 2 ${map}`);
      await service.sandbox.idle();
      return service;
    }

    it("are read with it by status, verify and prune", async () => {
      const service = await startSent();
      for (const paths of [name, ""]) {
        const line = (verb: string, more = ""): string =>
          [verb, paths, more].filter((each) => each !== "").join(" ");
        const unchanged = await run(service, line("status", "--exit-code"));
        expect(unchanged.stderr).toContain("no difference: 2 documents unchanged");
        expect(unchanged.stderr).toContain(
          "judged by the flags of the uploads: --map id=sku --map text=notes --map title=name",
        );
        expect((await run(service, line("verify"))).stderr).toContain("2 current");
        expect((await run(service, line("prune", "--dry-run"))).stdout).toBe("");
      }
      // A changed, a new and a removed row.
      writeFiles(service.folder, {
        [name]: rows(["s1", "Lamp", "Other."], ["s3", "Desk", "New."]),
      });
      expect(await differences(service)).toEqual(["new s3", "changed s1", "gone s2 row-gone"]);
      const shown = await runIn(service, "prune --dry-run --json");
      expect(shown.stdout).toContain('"s2"');
      expect(shown.stdout).not.toContain('"s1"');
      await run(service, "prune --yes --max-delete 1");
      expect(await differences(service)).toEqual(["new s3", "changed s1"]);
      const checked = await expectRun(service, "verify --json", 10);
      expect(checked.stdout).toContain("changed since upload");
      // Another --map is that of the last upload.
      await run(service, `ingest ${name} --cc-pair-id 2 --map id=sku,title=sku,text=name`);
      expect(await differences(service)).toEqual([]);
      // The same mapping in the configuration now, which the flags of the upload still override.
      const ingest = { map: { id: "sku", title: "name", text: "notes" } };
      writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
      expect(await differences(service)).toEqual([]);
    });

    it("are sent again with it by retry", async () => {
      const broken = new Uint8Array([0xff, 0x00, 0xfe]);
      const service = await startTestService({ files: { [name]: broken } });
      expect((await runIn(service, `ingest ${name} --cc-pair-id 2 ${map}`)).code).toBe(10);
      writeFiles(service.folder, { [name]: rows(one, two) });
      await run(service, "retry");
      expect([...service.sandbox.ledger.documents.keys()].toSorted()).toEqual(["s1", "s2"]);
      expect(titles(service).join()).toContain("A lamp for the desk.");
      expect(await differences(service)).toEqual([]);
    });
  });

  describe("a file without a record", () => {
    it("is judged by the flags of the last upload that covered its folder", async () => {
      const files = { "one/a.md": "# A\n", "two/b.md": "# B\n" };
      const service = await startTestService({ files });
      await run(service, "ingest one --cc-pair-id 2 --id-prefix first/");
      await run(service, "ingest two --cc-pair-id 2 --id-prefix second/");
      writeFiles(service.folder, {
        "one/new.md": "# New\n",
        "two/new.md": "# New\n",
        "two/deep/new.md": "# New\n",
        "three/new.md": "# New\n",
      });
      expect(await differences(service)).toEqual([
        "new first/one/new.md",
        "new second/two/deep/new.md",
        "new second/two/new.md",
      ]);
      // No upload covered the folder: only the configuration of today counts.
      expect(await differences(service, " three")).toEqual(["new three/new.md"]);
      const { stderr } = await runIn(service, "status");
      expect(stderr).toContain(
        "judged by the flags of the uploads: --id-prefix first/; --id-prefix second/\n",
      );
    });

    it("is judged by the later of two uploads of its folder", async () => {
      const service = await startTestService({ files: { "docs/a.md": "# A\n" } });
      await run(service, "ingest docs --cc-pair-id 2 --id-prefix first/");
      await run(service, "ingest docs --cc-pair-id 2 --id-prefix second/");
      writeFiles(service.folder, { "docs/new.md": "# New\n" });
      expect((await differences(service)).slice(0, 1)).toEqual(["new second/docs/new.md"]);
    });
  });

  describe("a recorded document", () => {
    it("is changed where the configuration has changed, and its own flags stay", async () => {
      const config = (ingest: object): Record<string, string> => ({
        ".cliconfig.json": JSON.stringify({ ingest }),
      });
      const files = { "docs/a.md": "# A\n\nText.\n", ...config({ metadata: { team: "x" } }) };
      const service = await startTestService({ files });
      await run(service, "ingest docs --cc-pair-id 2 --tag from-flag");
      expect(await differences(service)).toEqual([]);
      writeFiles(service.folder, config({ metadata: { team: "y" } }));
      expect(await differences(service)).toEqual(["changed docs/a.md"]);
      // Sent with both: the tag of the recorded flags, the team of today.
      await run(service, "ingest docs --cc-pair-id 2 --tag from-flag");
      expect(await differences(service)).toEqual([]);
    });

    it("keeps its own flags beside others of the same state", async () => {
      const files = { "one/a.md": "# A\n\nText.\n", "two/b.md": "# B\n\nText.\n" };
      const service = await startTestService({ dialect: "onyx", files });
      await run(service, "ingest one --cc-pair-id 2 --tag first --sections headings");
      await run(service, "ingest two --cc-pair-id 2 --tag second --id-prefix kb/");
      await service.sandbox.idle();
      expect(await differences(service)).toEqual([]);
      expect((await run(service, "verify")).stderr).toContain("2 current");
      expect((await run(service, "prune --dry-run")).stdout).toBe("");
      writeFiles(service.folder, { "one/a.md": "# A\n\nOther.\n" });
      rmSync(join(service.folder, "two/b.md"));
      writeFiles(service.folder, { "two/c.md": "# C\n" });
      expect(await differences(service)).toEqual([
        "new kb/two/c.md",
        "changed one/a.md",
        "gone kb/two/b.md gone",
      ]);
    });

    it("of an earlier upload with another id is kept, whatever prune removes by default", async () => {
      const service = await startTestService({ dialect: "onyx", files: { "docs/a.md": "# A\n" } });
      await run(service, "ingest docs --cc-pair-id 2 --id-prefix one/");
      await run(service, "ingest docs --cc-pair-id 2 --id-prefix two/");
      expect(await differences(service)).toEqual(["gone one/docs/a.md other-options"]);
      expect((await run(service, "status --exit-code")).stdout).toContain("(other-options)");
      await run(service, "prune --yes --max-delete 100%");
      expect([...service.sandbox.ledger.documents.keys()].toSorted()).toEqual([
        "one/docs/a.md",
        "two/docs/a.md",
      ]);
      expect(await differences(service)).toEqual(["gone one/docs/a.md other-options"]);
    });
  });
});
