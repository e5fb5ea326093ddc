import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn, type Ran } from "../state/support.ts";

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
    const service = await startTestService({ dialect: "onyx", files: { [name]: rows(one, two) } });
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
  });

  it("show a changed, a new and a removed row", async () => {
    const service = await startSent();
    writeFiles(service.folder, { [name]: rows(["s1", "Lamp", "Other."], ["s3", "Desk", "New."]) });
    expect(await differences(service)).toEqual(["new s3", "changed s1", "gone s2 row-gone"]);
    const shown = await runIn(service, "prune --dry-run --json");
    expect(shown.stdout).toContain('"s2"');
    expect(shown.stdout).not.toContain('"s1"');
    await run(service, "prune --yes --max-delete 1");
    expect(await differences(service)).toEqual(["new s3", "changed s1"]);
    const checked = await runIn(service, "verify --json");
    expect(checked.code).toBe(10);
    expect(checked.stdout).toContain("changed since upload");
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

  it("are judged by the --map of the last upload", async () => {
    const service = await startSent();
    await run(service, `ingest ${name} --cc-pair-id 2 --map id=sku,title=sku,text=name`);
    expect(await differences(service)).toEqual([]);
    // The same mapping in the configuration now, which the flags of the upload still override.
    const ingest = { map: { id: "sku", title: "name", text: "notes" } };
    writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
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
