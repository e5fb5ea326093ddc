import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";

const broken = "---\ntitle: [unclosed\n---\ntext\n";
const secret = "# A secret\n\nNobody may read it.\n";
const files = {
  "docs/a.md": broken,
  ".env": secret,
  ".git/notes.md": secret,
  ".hidden/x.md": secret,
  ".gitignore": "ignored.md\n",
  "ignored.md": secret,
  "notes.txt2": secret,
  "node_modules/p/readme.md": secret,
};
const attacks = [
  ".env",
  ".git/notes.md",
  ".hidden/x.md",
  "ignored.md",
  "notes.txt2",
  "node_modules/p/readme.md",
  "../outside.md",
  "docs/../../outside.md",
  "/etc/hostname",
  "link.md",
];

/** A failed file, then mended; beside it what no upload of the root finds. */
async function startFailed(): Promise<TestService> {
  const service = await startTestService({ files });
  const { folder } = service;
  writeFileSync(join(dirname(folder), "outside.md"), secret);
  symlinkSync("../outside.md", join(folder, "link.md"));
  await expectRun(service, "ingest docs --cc-pair-id 2 --report run.json", 10);
  writeFiles(folder, { "docs/a.md": "# A\n\nText.\n" });
  return service;
}

const sent = ({ sandbox }: TestService): string[] => [...sandbox.ledger.documents.keys()];

const settings = { flags: { useIgnoreFiles: false, include: ["**"] }, useIgnoreFiles: false };

describe("retry takes only what an upload would find today", () => {
  it.each([{}, settings, { ...settings, format: "text" }])(
    "of a report, whatever its options: %j",
    async (options) => {
      const service = await startFailed();
      const path = join(service.folder, "run.json");
      const report = JSON.parse(readFileSync(path, "utf8")) as {
        options: { settings: object }[];
        failures: { path: string }[];
        counts: { failed: number };
        paths: string[];
      };
      const [failure] = report.failures;
      report.options = [report.options[0]!, { ...report.options[0]!, settings: options }];
      report.failures = [
        ...report.failures,
        ...attacks.map((each) => ({ ...failure!, path: each, options: 1 })),
      ];
      report.counts.failed += attacks.length;
      writeFileSync(path, JSON.stringify(report));
      const ran = await expectRun(service, "retry run.json --cc-pair-id 2", 10, "1 created");
      for (const each of attacks.slice(0, 6)) expect(ran.stderr).toContain(`${each}: not sent`);
      expect(sent(service)).toEqual(["docs/a.md"]);
    },
  );

  it("of a state, whoever wrote it", async () => {
    const service = await startFailed();
    const database = await openDatabase(join(service.folder, ".knowctl", "state.db"));
    for (const each of attacks) {
      database
        .prepare(
          `INSERT INTO failures SELECT target, ?, part, '', reason, retryable, status, failed_at, options FROM failures LIMIT 1`,
        )
        .run(each);
    }
    database.close();
    await expectRun(
      service,
      "retry --cc-pair-id 2",
      10,
      "1 created",
      "an upload would not find them today",
    );
    expect(sent(service)).toEqual(["docs/a.md"]);
  });

  it("without a file whose place a link to another file has taken", async () => {
    const service = await startFailed();
    const { folder } = service;
    writeFiles(folder, { "docs/other.md": secret });
    rmSync(join(folder, "docs/a.md"));
    symlinkSync("other.md", join(folder, "docs/a.md"));
    const why = "docs/a.md: not sent: a link leads to docs/other.md now";
    await expectRun(service, "retry --cc-pair-id 2", 10, why);
    expect(sent(service)).toEqual([]);
  });

  it("without a file that lies in a project of its own now, and the others are sent", async () => {
    const nested = { "docs/a.md": broken, "docs/sub/b.md": broken };
    const service = await startTestService({ files: nested });
    await expectRun(service, "ingest docs --cc-pair-id 2 --id-prefix p/", 10);
    const text = "# A\n\nText.\n";
    writeFiles(service.folder, { "docs/a.md": text, "docs/sub/b.md": text });
    writeFiles(service.folder, { "docs/sub/.cliconfig.json": "{}" });
    for (const line of ["retry --dry-run", "retry", "retry"]) {
      await expectRun(
        service,
        line,
        10,
        "docs/sub/b.md: not sent: docs/sub is a project root of its own",
      );
    }
    expect(sent(service)).toEqual(["p/docs/a.md"]);
  });

  it("but with the own --no-ignore of the upload also what is ignored", async () => {
    const service = await startTestService({
      files: { ".gitignore": "x.md\n", "docs/x.md": broken },
    });
    await runIn(service, "ingest docs --no-ignore --cc-pair-id 2 --id-prefix p/");
    writeFiles(service.folder, { "docs/x.md": "# X\n\nText.\n" });
    await expectRun(service, "retry --cc-pair-id 2", 0);
    expect(sent(service)).toEqual(["p/docs/x.md"]);
  });

  it("below the working directory, whatever root a report names", async () => {
    const service = await startFailed();
    const other = join(dirname(service.folder), "other");
    mkdirSync(join(other, "docs"), { recursive: true });
    writeFileSync(join(other, "docs", "a.md"), secret);
    const path = join(service.folder, "run.json");
    for (const named of [other, "../other"]) {
      const report = JSON.parse(readFileSync(path, "utf8")) as object;
      writeFileSync(path, JSON.stringify({ ...report, paths: [named] }));
      await runIn(service, "retry run.json --cc-pair-id 2");
    }
    const bodies = [...service.sandbox.ledger.documents.values()];
    expect(JSON.stringify(bodies)).not.toContain("Nobody may read it");
  });

  it.each([
    [{ sections: 7 }, "options.settings.sections"],
    [{ flags: { tags: "x" } }, "options.settings.flags.tags"],
    [{ rules: [{ match: 3 }] }, "options.settings.rules.0.match"],
    [{ flags: { columns: { text: 1 } } }, "options.settings.flags.columns.text"],
  ])("and names options of a report of a wrong type: %j", async (options, message) => {
    const service = await startFailed();
    const path = join(service.folder, "run.json");
    const report = JSON.parse(readFileSync(path, "utf8")) as { options: object[] };
    report.options = [{ ...report.options[0], settings: options }];
    writeFileSync(path, JSON.stringify(report));
    await expectRun(service, "retry run.json --cc-pair-id 2", 2, message);
    expect(sent(service)).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("and calls no file gone for its name", async () => {
    const service = await startTestService({ files: { "docs/good.md": "# Good\n" } });
    const path = Buffer.concat([
      Buffer.from(join(service.folder, "docs", "grö")),
      Buffer.from([0xfc, 0xdf]),
      Buffer.from(".md"),
    ]);
    writeFileSync(path, "# Size\n");
    await expectRun(service, "ingest docs --cc-pair-id 2", 10);
    // The second run too: a failure that is not settled stays recorded.
    for (let run = 1; run <= 2; run++) {
      const { stderr } = await expectRun(service, "retry --cc-pair-id 2", 10);
      expect(stderr).toContain(
        "docs/gr\\xc3\\xb6\\xfc\\xdf.md: not sent: the name is not valid UTF-8",
      );
      expect(stderr).not.toContain("gone");
    }
    renameSync(path, join(service.folder, "docs", "größe.md"));
    await expectRun(service, "ingest docs --cc-pair-id 2", 0);
    await expectRun(service, "retry --cc-pair-id 2", 0, "no file failed last time");
  });
});
