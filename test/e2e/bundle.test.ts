import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPool } from "../../src/documents/inspect/pool.ts";
import { startTestService, writeFiles } from "../service.ts";
import { cleanEnvironment, projectFolder, runCli, temporaryFolder } from "../support.ts";

const hasOwnSqlite = process.getBuiltinModule("node:sqlite") !== undefined;

let folder = "";
beforeAll(() => {
  // Where nothing of the project lies around it.
  folder = mkdtempSync(join(tmpdir(), "knowctl-bundle-"));
  const script = join(projectFolder, "scripts", "bundle.js");
  execFileSync(process.execPath, [script, folder], { stdio: ["ignore", "ignore", "inherit"] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: string[], cwd: string, env = cleanEnvironment(cwd)) {
  return runCli(args, { cwd, env, program: join(folder, "knowctl.cjs") });
}

describe("the single file", () => {
  it.each([["--version"], ["--help"], ["ingest", "--help"], ["no-such"]])(
    "answers %j as the installed program does",
    async (...args) => {
      const cwd = temporaryFolder();
      const installed = await runCli(args, { cwd, env: cleanEnvironment(cwd) });
      expect(await run(args, cwd)).toEqual(installed);
    },
  );

  it("reads PDF and DOCX in threads that it starts with itself", async () => {
    const root = join(projectFolder, "test", "fixtures", "documents", "office");
    const pair = { ccPairId: 2, fromFlag: false };
    const setup = { settings: { root }, pair };
    const pool = createPool(join(folder, "knowctl.cjs"), setup, { size: 1 });
    onTestFinished(() => pool.close());
    const items = ["ghostscript.pdf", "libreoffice.docx", "password.pdf"].map((path) => ({
      path,
      absolutePath: join(root, path),
      stamp: undefined,
      content: undefined,
    }));
    const looked = await pool.look(items);
    expect(looked.map(({ kind }) => kind)).toEqual(["document", "document", "failed"]);
    const bodies = looked.flatMap((each) => (each.kind === "document" ? [each.body] : []));
    expect(Buffer.concat(bodies).toString()).toContain("Core Title");
  });

  it("lists connectors, with jq, and asks", async () => {
    const service = await startTestService();
    const list = ["connectors", "list", "--jq", ".[].cc_pair_id"];
    const listed = await run(list, service.folder, service.env);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout.split("\n").filter(Boolean).map(Number)).toContain(2);
    const asked = await run(["chat", "What is there?"], service.folder, service.env);
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain("knowctl sandbox");
  });

  it("uploads where Node has SQLite, and says what to do where it has none", async () => {
    const service = await startTestService({ files: { "docs/a.md": "A\n" } });
    // What lies around is not the program's, even if it bears the name that is missing.
    const canary = join(service.folder, "canary");
    const code = `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "ran")`;
    const places = ["node_modules/libsql/index.js", ".config/config.js"];
    writeFiles(folder, Object.fromEntries(places.map((path) => [path, code])));
    const ingest = ["ingest", "docs", "--cc-pair-id", "2"];
    for (const args of [ingest, [...ingest, "--dry-run", "--no-state"], ["convert", "docs"]]) {
      const result = await run(args, service.folder, service.env);
      if (hasOwnSqlite) expect(result.code).toBe(0);
      else {
        expect(result.code).toBe(14);
        expect(result.stderr).toContain("SQLite is not available");
        expect(result.stderr).toContain("Node 22.13 or newer");
      }
    }
    expect(existsSync(canary)).toBe(false);
  });

  it("is ASCII, which starts fastest, and names its licences", () => {
    const bytes = readFileSync(join(folder, "knowctl.cjs"));
    expect(bytes.every((byte) => byte < 128)).toBe(true);
    for (const name of ["knowctl", "undici", "unpdf", "sax", "jq-web"]) {
      expect(bytes.includes(`\n${name} `), name).toBe(true);
    }
  });
});
