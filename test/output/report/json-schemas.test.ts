import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schemaOf } from "../../schemas.ts";
import { LintOutput, VerifyOutput } from "../../../src/output/report/stored/checks.ts";
import { main } from "../../main.ts";
import { startTestService, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";

// Strict schemas: a member that they do not name is a failure too.

async function output({ folder, env }: Pick<TestService, "folder" | "env">, line: string) {
  const context = createTestContext({ cwd: folder, env });
  await main(line.split(" "), context);
  return context.stdoutText();
}

describe("schema/doctor.schema.json", () => {
  const schema = schemaOf("doctor");

  it.each(["standard", "onyx"] as const)("holds for a report of %s", async (dialect) => {
    const service = await startTestService({ dialect });
    const report: unknown = JSON.parse(await output(service, "doctor --json"));
    expect(schema.safeParse(report).error).toBe(undefined);
    expect(report).toMatchObject({ version: 1, status: "ok" });
  });

  it("holds for a report with failures, of checks and of uploads", async () => {
    const service = await startTestService({
      files: { "a.md": "# A", "b.md": "---\nid: []\n---\n" },
    });
    await output(service, "ingest . --cc-pair-id 2");
    const env = { ...service.env, KNOWCTL_API_KEY: "a-wrong-key-of-some-length" };
    const report = JSON.parse(await output({ ...service, env }, "doctor --json")) as object;
    expect(schema.safeParse(report).error).toBe(undefined);
    expect(report).toMatchObject({ status: "failure", failures: [{ httpStatus: null }] });
    expect(schema.safeParse({ ...report, more: 1 }).success).toBe(false);
  });
});

describe("schema/plan.schema.json", () => {
  const schema = schemaOf("plan");
  const files = {
    "a.md": "# A",
    "draft.md": "---\ndraft: true\n---\n# D",
    "bad.md": "---\nid: []\n---\n",
    "same.md": "# Same",
    "gone.md": "# Gone",
  };

  it("holds for the document and for each line", async () => {
    const service = await startTestService({ files });
    await output(service, "ingest . --cc-pair-id 2 --exclude a.md");
    await output(service, "ingest gone.md --cc-pair-id 2");
    const dryRun = "ingest . --cc-pair-id 2 --exclude gone.md --dry-run --output";
    const plan: unknown = JSON.parse(await output(service, `${dryRun} json`));
    const lines = (await output(service, `${dryRun} ndjson`)).trim().split("\n");
    const all = [plan, ...lines.map((line) => JSON.parse(line) as unknown)];
    for (const each of all)
      expect(schema.safeParse(each).error, JSON.stringify(each)).toBe(undefined);
    expect(plan).toMatchObject({
      type: "plan",
      counts: { new: 1, unchanged: 1, skipped: 1, failed: 1, gone: 1 },
    });
    expect(lines.length).toBeGreaterThan(5);
  });
});

describe("the schemas of connectors", () => {
  it.each(["standard", "onyx"] as const)("hold for the states of %s", async (dialect) => {
    const schema = schemaOf("connectors-status");
    const service = await startTestService({ dialect });
    for (const line of ["connectors status --json", "connectors status 2 6 --json"]) {
      const rows = JSON.parse(await output(service, line)) as object[];
      expect(schema.safeParse(rows).error).toBe(undefined);
      expect(rows.length).toBeGreaterThan(1);
      expect(schema.safeParse([{ ...rows[0], more: 1 }]).success).toBe(false);
    }
  });

  it("hold for errors", async () => {
    const schema = schemaOf("connectors-errors");
    const service = await startTestService({ dialect: "onyx" });
    const rows = JSON.parse(
      await output(service, "connectors errors 6 --resolved --json"),
    ) as object[];
    expect(schema.safeParse(rows).error).toBe(undefined);
    expect(rows).toHaveLength(3);
  });
});

describe("schema/status.schema.json", () => {
  const schema = schemaOf("status");

  it("holds for the document and for each line", async () => {
    const service = await startTestService({ dialect: "onyx", files: { "a.md": "# A" } });
    await output(service, "ingest . --cc-pair-id 2 --id-prefix old/ --state other");
    await output(service, "ingest . --cc-pair-id 4");
    const line = "status --remote --cc-pair-id 2 --output";
    const report: unknown = JSON.parse(await output(service, `${line} json`));
    const lines = (await output(service, `${line} ndjson`)).trim().split("\n");
    const part: unknown = JSON.parse(await output(service, `${line} json a.md`));
    const all = [report, part, ...lines.map((each) => JSON.parse(each) as unknown)];
    for (const each of all)
      expect(schema.safeParse(each).error, JSON.stringify(each)).toBe(undefined);
    expect(report).toMatchObject({ command: "status", summary: { extra: 1, elsewhere: 1 } });
    expect(part).toMatchObject({ summary: { extra: null } });
    expect(schema.safeParse({ ...(report as object), more: 1 }).success).toBe(false);
  });
});

describe("schema/lint.schema.json", () => {
  const schema = LintOutput;

  it("holds for the result, its lines and its report", async () => {
    const files = { "a.md": "---\ntitle: A\n---\n", "rows.csv": "id,text\n1,One\n" };
    const service = await startTestService({ files });
    const line = "lint a.md rows.csv --report r.json --output";
    const whole = JSON.parse(await output(service, `${line} json`)) as { findings: object[] };
    expect(schema.safeParse(whole).error).toBe(undefined);
    expect(schema.safeParse({ ...whole, more: 1 }).success).toBe(false);
    expect(whole.findings.length).toBeGreaterThan(1);
    const report: unknown = JSON.parse(readFileSync(join(service.folder, "r.json"), "utf8"));
    expect(report).toEqual(whole);
    const lines = (await output(service, `${line} ndjson`)).trim().split("\n");
    expect(lines).toHaveLength(whole.findings.length + 1);
    for (const each of lines) expect(schema.safeParse(JSON.parse(each)).error).toBe(undefined);
  });
});

describe("schema/verify.schema.json", () => {
  const schema = VerifyOutput;
  const files = { "a.md": "# A\n\ntext a\n", "b.md": "# B\n\ntext b\n" };

  it("holds for the result, its lines and its report", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    await output(service, "ingest . --cc-pair-id 2");
    await service.sandbox.idle();
    const whole = JSON.parse(await output(service, "verify --json --report r.json")) as object;
    expect(schema.safeParse(whole).error).toBe(undefined);
    expect(schema.safeParse({ ...whole, more: 1 }).success).toBe(false);
    const report: unknown = JSON.parse(readFileSync(join(service.folder, "r.json"), "utf8"));
    expect(report).toEqual(whole);
    const lines = (await output(service, "verify --output ndjson")).trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(schema.safeParse(JSON.parse(line)).error).toBe(undefined);
  });

  it("is that of the lines of `ingest --verify`", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    const events = schemaOf("ingest-events");
    // Whether the index holds the documents already does not matter here.
    const text = await output(service, "ingest . --cc-pair-id 2 --verify --output ndjson");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type).filter((type) => type === "verified")).toHaveLength(2);
    for (const line of lines) expect(events.safeParse(line).error).toBe(undefined);
  });
});
