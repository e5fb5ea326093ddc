import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";

const files = Object.fromEntries(
  Array.from({ length: 6 }, (_, index) => [
    `docs/${index}.md`,
    `# Page ${index}\n\nRule ${index}.\n`,
  ]),
);

/** A service that refuses the key after some look-ups. */
async function startRefusing(after: number) {
  const path = "/api/document/document-size-info";
  const service = await startTestService({
    dialect: "onyx",
    files,
    faults: {
      rules: [{ when: { path, after }, do: { status: 401 } }],
    },
  });
  const { folder: cwd, env, sandbox } = service;
  const run = (line: string) => runHere(line.split(" "), { cwd, env });
  expect((await run("ingest docs --cc-pair-id 2 --quiet")).code).toBe(0);
  await sandbox.idle();
  return { run, read: (name: string): string => readFileSync(join(cwd, name), "utf8") };
}

it("a stopped check shows and reports what it has found, and what it has not checked", async () => {
  const { run, read } = await startRefusing(4);
  const reports = "--report v.json --report v.xml --report v.html";
  const { code, stderr } = await run(`verify --depth exists --concurrency 1 ${reports}`);
  expect(code).toBe(4);
  expect(stderr).toMatch(/\n\d present, \d not checked\nerror: .*: 401/);
  const { status, summary } = JSON.parse(read("v.json")) as {
    status: string;
    summary: { documents: number };
  };
  expect(status).toBe("partial");
  const left = `${6 - summary.documents} documents not checked`;
  expect(stderr).toContain(`${6 - summary.documents} not checked`);
  expect(read("v.xml")).toContain(`<error message="${left}"`);
  expect(read("v.html")).toContain(left);
});

it("a check that found nothing before it was stopped writes no report", async () => {
  const { run, read } = await startRefusing(0);
  const { code, stdout } = await run("verify --json --report v.json");
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(() => read("v.json")).toThrow("ENOENT");
});
