import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseBaseline } from "../../../src/output/eval/read.ts";
import { writeEvalReport } from "../../../src/output/eval/report-file.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { temporaryFolder } from "../../support.ts";
import { mixedReport, reportOf } from "./report-sample.ts";

const secret = "s3cr3t-of-this-run-0123456789";

describe("the report files of eval", () => {
  it.each([
    ["report.json", '{"version":1,"command":"eval retrieval"'],
    ["report.xml", '<?xml version="1.0"'],
    ["report.html", "<!doctype html>"],
  ])("%s is what its extension says, without secrets", async (name, start) => {
    const path = join(temporaryFolder(), name);
    const secrets = createSecrets();
    secrets.add(secret);
    await writeEvalReport(path, reportOf(`a ${secret} b`), secrets.redact);
    const text = readFileSync(path, "utf8");
    expect(text.startsWith(start)).toBe(true);
    expect(text).not.toContain("s3cr3t");
  });

  it("can be read back as a baseline, also with control characters", async () => {
    const path = join(temporaryFolder(), "report.json");
    const report = reportOf("\u001b[31m \u202e");
    await writeEvalReport(path, report, (text) => text);
    const text = readFileSync(path, "utf8");
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(parseBaseline(text, path).cases[0]?.question).toBe("\u001b[31m \u202e");
  });

  it("is refused with another extension", async () => {
    const write = writeEvalReport("report.csv", mixedReport(), (text) => text);
    await expect(write).rejects.toMatchObject({ exit: "usage" });
  });
});
