import { describe, expect, it } from "vitest";
import { main } from "../../main.ts";
import { startTestService, testKey, writeFiles, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";

const files = {
  "docs/leave.md":
    '---\ntitle: Annual leave\ntags: [hr, \u202ex]\nversion: 1.10\nowner: Ada Lovelace <ada@example.com>\nupdated: 2024-05-01\n---\n# Leave\n\nAsk <b>"your"</b> \\ lead. 😀\u0085\n\n## Sick leave\n\nCall.\n',
  "docs/a b.md": "# A b\n\nOne.\n",
  "docs/draft.md": "---\ndraft: true\n---\nLater.\n",
  "docs/plain.txt": "Plain text.\r\nMore.\n",
  "docs/page.html": "<title>Page</title><h1>Page</h1><p>Text &amp; more.</p>",
  "docs/rows.csv":
    "id,title,text,size\nr1,Row one,First,12345678901234567890\nr2,Row two,Second,1.10\n",
  "docs/given.ndjson": `${JSON.stringify({
    document: {
      id: "g1",
      title: "G",
      sections: [{ text: "G." }],
      metadata: { n: 1 },
      extra: [1, null],
    },
    cc_pair_id: 3,
  })}\n`,
};
const inputs = ["docs", "docs/rows.csv", "docs/given.ndjson"];
const mapping = [
  "--sections",
  "headings",
  "--tag",
  "all",
  "--link",
  "https://wiki.example.com/{path}",
];

async function run(service: TestService, args: string[], stdin?: string) {
  const { folder: cwd, env } = service;
  const context = createTestContext({ cwd, env, ...(stdin === undefined ? {} : { stdin }) });
  const code = await main(args[0] === "convert" ? [...args] : ["ingest", ...args], context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const ledgerOf = ({ sandbox }: TestService) => Object.fromEntries(sandbox.ledger.documents);

describe("convert", () => {
  it.each(["standard", "onyx"] as const)("is the inverse of ingest - (%s)", async (dialect) => {
    const direct = await startTestService({ files, dialect });
    const piped = await startTestService({ files, dialect });
    expect(await run(direct, [...inputs, ...mapping, "--cc-pair-id", "2"])).toMatchObject({
      code: 0,
    });
    const written = await run(piped, ["convert", ...inputs, ...mapping]);
    expect(written.code).toBe(0);
    expect(written.stderr).toContain("7 documents written, none sent, 1 skipped");
    expect(await run(piped, ["-", "--cc-pair-id", "2"], written.stdout)).toMatchObject({ code: 0 });
    expect(Object.keys(ledgerOf(direct))).toHaveLength(7);
    expect(ledgerOf(piped)).toEqual(ledgerOf(direct));
    // Both know the documents by the same fingerprints.
    const again = await run(direct, ["-", "--cc-pair-id", "2"], written.stdout);
    expect(again.stderr).toContain("7 unchanged");
  });

  it("writes no document that holds a key, and no other text in its place", async () => {
    const leak = `# Leak\n\n${Buffer.from(testKey).toString("base64")}\n`;
    const service = await startTestService({ files: { "docs/a.md": "# A\n", "docs/b.md": leak } });
    const { code, stdout, stderr } = await run(service, ["convert", "docs"]);
    expect(code).toBe(10);
    expect(stderr).toContain("docs/b.md: the document contains one of your keys");
    expect(stdout.split("\n").filter(Boolean)).toHaveLength(1);
    expect(stdout).not.toContain("***");
  });

  it("says why files are skipped, as an upload does", async () => {
    const drafts = { "a.md": "---\ndraft: true\n---\nA.\n", "b.md": "---\ndraft: true\n---\nB.\n" };
    const service = await startTestService({ files: { ...drafts, "c.md": "C.\n", "d.md": " \n" } });
    const upload = await run(service, [".", "--cc-pair-id", "2"]);
    const { stderr } = await run(service, ["convert", "."]);
    const said = (text: string): string[] => text.match(/^skipped .*$/gm) ?? [];
    expect(said(stderr)).toHaveLength(2);
    expect(said(stderr)).toContain(
      "skipped 2: draft: true in the front matter (--drafts sends it)",
    );
    expect(said(stderr).toSorted()).toEqual(said(upload.stderr).toSorted());
  });

  it("keeps the pairs that rows, rules and flags name", async () => {
    const piped = await startTestService({ files });
    const ingest = { ccPairId: 2, rules: [{ match: "docs/*.txt", ccPairId: 3 }] };
    writeFiles(piped.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
    const { stdout } = await run(piped, ["convert", ...inputs]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const pairs = lines.map((line) => {
      const document = (line["document"] ?? line) as { id: string };
      return [document.id, line["cc_pair_id"]];
    });
    expect(Object.fromEntries(pairs)).toMatchObject({ g1: 3, "docs/plain.txt": 3, r1: undefined });
    const flagged = await run(piped, ["convert", "docs/plain.txt", "--cc-pair-id", "4"]);
    expect(JSON.parse(flagged.stdout)).toMatchObject({ document: {}, cc_pair_id: 4 });
  });

  it("needs no key and no service, and touches no state", async () => {
    const service = await startTestService({ files });
    const { KNOWCTL_API_KEY: _key, KNOWCTL_BASE_URL: _url, ...env } = service.env;
    const context = createTestContext({ cwd: service.folder, env });
    expect(await main(["convert", "docs/plain.txt"], context)).toBe(0);
    expect(JSON.parse(context.stdoutText())).toMatchObject({ id: "docs/plain.txt" });
    expect(service.sandbox.ledger.requestCount).toBe(0);
    expect(await run(service, ["docs/plain.txt", "--cc-pair-id", "2"])).toMatchObject({ code: 0 });
  });

  it("tells of images and warnings once", async () => {
    const text = "---\nlink: /page\n---\n![one](one.png)\n";
    const service = await startTestService({ files: { "docs/a.md": text } });
    const { stderr } = await run(service, ["convert", "docs"]);
    expect(stderr.match(/1 image in the text skipped/g)).toHaveLength(1);
    expect(stderr.match(/^warning: .*docs\/a\.md/gm)).toHaveLength(1);
  });

  it("writes what it can and tells of the rest", async () => {
    const service = await startTestService({ files });
    writeFiles(service.folder, { "docs/bad.md": "---\nupdated: never\n---\nText.\n" });
    const { code, stdout, stderr } = await run(service, ["convert", "docs"]);
    expect(code).toBe(10);
    expect(stdout.trim().split("\n")).toHaveLength(4);
    expect(stderr).toContain("error: docs/bad.md:2:1: ");
    expect(stderr).toContain("1 document failed");
  });

  it("cuts into shards that are the whole together", async () => {
    const service = await startTestService({ files });
    const whole = await run(service, ["convert", ...inputs]);
    const parts = await Promise.all(
      [1, 2, 3].map((index) => run(service, ["convert", ...inputs, "--shard", `${index}/3`])),
    );
    const sorted = (text: string): string[] => text.trim().split("\n").filter(Boolean).toSorted();
    expect(sorted(parts.map(({ stdout }) => stdout).join(""))).toEqual(sorted(whole.stdout));
    const other = await startTestService();
    for (const shard of ["1/2", "2/2"]) {
      await run(other, ["-", "--cc-pair-id", "2", "--shard", shard], whole.stdout);
    }
    expect(Object.values(ledgerOf(other)).map(({ length }) => length)).toEqual(
      Array.from({ length: 7 }, () => 1),
    );
  });

  it.each([
    [["convert", "docs", "--output", "json"], "Expected one of ndjson"],
    [["convert", "docs", "--json"], "--json: convert does not support this format"],
    [["convert", "docs", "--images", "upload"], "no image can be uploaded"],
    [["convert", "-"], "already contains documents"],
    [["convert", "none"], "no such file or folder"],
    [["convert", "empty"], "0 documents found in empty"],
    [["convert", "twice"], "two files have the same document id"],
  ])("refuses %j", async (args, message) => {
    const service = await startTestService({ files });
    writeFiles(service.folder, {
      "empty/x.bin": "x",
      "twice/a.md": "---\nid: one\n---\nA.\n",
      "twice/b.md": "---\nid: one\n---\nB.\n",
    });
    const { code, stdout, stderr } = await run(service, args);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });
});
