import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { expectRun, runIn } from "../../state/support.ts";

const files = { "docs/a.md": "# A\n\nText.\n", "more/b.md": "# B\n\nText.\n", "c.md": "# C\n" };
const flags = "--cc-pair-id 2 --id-prefix kb/ --tag t1 --metadata team=x --sections headings";

const ids = (service: TestService): string[] =>
  [...service.sandbox.ledger.documents.keys()].toSorted();

/** Prints the project file of a command line, and puts it in its place. */
async function keep(service: TestService, line: string, folder = service.folder): Promise<unknown> {
  const printed = await expectRun({ ...service, folder }, `${line} --print-config`, 0);
  writeFiles(service.folder, { ".cliconfig.json": printed.stdout });
  await expectRun(service, "config trust", 0);
  return JSON.parse(printed.stdout);
}

it("prints the file that repeats the command, profile and address included, and sends nothing", async () => {
  const service = await startTestService({ files });
  const before = readdirSync(service.folder);
  const printed = await runIn(service, `ingest docs more ${flags} --print-config`);
  expect(printed.stderr).toContain("config trust");
  expect(service.sandbox.ledger.requests).toEqual([]);
  expect(readdirSync(service.folder)).toEqual(before);
  expect(await keep(service, `ingest docs more ${flags}`)).toEqual({
    defaultProfile: "default",
    profiles: { default: { baseUrl: service.sandbox.url } },
    ingest: {
      include: ["./docs", "./more"],
      idPrefix: "kb/",
      sections: "headings",
      metadata: { team: "x" },
      tags: ["t1"],
      ccPairId: 2,
    },
  });
  await expectRun(service, `ingest docs more ${flags}`, 0);
  await expectRun(service, "ingest", 0, "2 unchanged");
  expect(ids(service)).toEqual(["kb/docs/a.md", "kb/more/b.md"]);
});

it("keeps the profile of the command line: plain ingest goes to no other service", async () => {
  const service = await startTestService({ files });
  const other = await startTestService();
  const profiles = {
    standard: { baseUrl: other.sandbox.url, apiKey: "k1" },
    writer: { baseUrl: service.sandbox.url, apiKey: service.env["KNOWCTL_API_KEY"] },
  };
  const env = { ...service.env };
  delete env["KNOWCTL_BASE_URL"];
  delete env["KNOWCTL_API_KEY"];
  writeFiles(env["XDG_CONFIG_HOME"]!, {
    "knowctl/config.json": JSON.stringify({ defaultProfile: "standard", profiles }),
  });
  const place = { ...service, env };
  const line = "ingest docs --cc-pair-id 2 --profile writer";
  const sent = await runIn(place, line);
  const host = service.sandbox.url.replace("http://", "");
  expect(sent.stderr).toMatch(new RegExp(`^to .* at ${host}, profile writer$`, "m"));
  expect(sent.stderr).toMatch(new RegExp(`done: .* at ${host}, profile writer$`, "m"));
  expect(existsSync(join(service.folder, ".cliconfig.json"))).toBe(false);
  expect(await keep(place, line)).toMatchObject({ defaultProfile: "writer" });
  await expectRun(place, "ingest", 0, "1 unchanged");
  expect(other.sandbox.ledger.requests).toEqual([]);
  const listed = await runIn(place, "state list -o csv");
  expect(listed.stdout.split("\n")[0]).toContain("service");
  expect(listed.stdout).toContain(host);
});

it("takes paths from below the root, globs, the root itself and columns of rows", async () => {
  const service = await startTestService({
    files: { ...files, "docs/p.csv": "sku,name\n1,One\n" },
  });
  const below = join(service.folder, "docs");
  const line = "ingest p.csv *.md --map id=sku,title=name,text=name --cc-pair-id 2";
  expect(await keep(service, line, below)).toMatchObject({
    ingest: { include: ["docs/p.csv", "docs/*.md"], map: { id: "sku", title: "name" } },
  });
  expect(await keep(service, "ingest . --cc-pair-id 2")).toMatchObject({
    ingest: { include: ["**"] },
  });
});

it.each([
  ["*.md", ["./*.md"]],
  ["c.md", ["./c.md"]],
  ["{c,d}.md", ["./{c,d}.md"]],
])("keeps a pattern at its place: %s", async (path, include) => {
  const service = await startTestService({ files: { ...files, "more/c.md": "# Private\n" } });
  const printed = await keep(service, `ingest ${path} --cc-pair-id 2`);
  expect(printed).toMatchObject({ ingest: { include } });
  await expectRun(service, "ingest", 0);
  expect(ids(service)).toEqual(["c.md"]);
});

it("keeps what the flags add to the project file, and replaces its other target", async () => {
  const service = await startTestService({ files: { ...files, "docs/z.md": "# Z\n" } });
  const ingest = {
    include: ["docs", "!docs/z.md"],
    tags: ["a"],
    metadata: { team: "x", kept: "k" },
    exclude: ["x.md"],
    connector: "Other",
    map: { id: "sku" },
  };
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
  const line =
    "ingest docs --cc-pair-id 2 --tag b --metadata team=y --exclude y.md --map text=name";
  expect(await keep(service, line)).toMatchObject({
    ingest: {
      include: ["./docs", "!docs/z.md"],
      tags: ["a", "b"],
      metadata: { team: "y", kept: "k" },
      exclude: ["x.md", "y.md"],
      ccPairId: 2,
      map: { text: "name" },
    },
  });
  const again = await runIn(service, "ingest docs --cc-pair-id 2 --print-config");
  expect(again.stdout).not.toContain("connector");
});

it.each([
  ["ingest docs --include docs/** --cc-pair-id 2", "--include"],
  ["ingest - --cc-pair-id 2", "stdin"],
  ["ingest docs --cc-pair-id 2 --no-lint", "--no-lint"],
  ["ingest docs --cc-pair-id 2 --no-state", "--no-state"],
])("refuses what a project file cannot hold: %s", async (line, named) => {
  const service = await startTestService({ files });
  const { code, stdout, stderr } = await runIn(service, `${line} --print-config`);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(named);
});
