import { type StdioOptions, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPool } from "../src/documents/inspect/pool.ts";
import { startTestService, writeFiles } from "./service.ts";
import { cleanEnvironment, projectFolder, runCli, temporaryFolder } from "./support.ts";

interface Instruction {
  name: string;
  value: string;
}

/** Instructions of a Dockerfile: comments off, continued lines joined. */
function parse(text: string): Instruction[] {
  const lines = text.replace(/^#.*\n/gm, "").replace(/\\\n\s*/g, "");
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [, name = "", value = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return { name, value };
    });
}

const instructions = parse(readFileSync(join(projectFolder, "Dockerfile"), "utf8"));
const last = instructions.findLastIndex(({ name }) => name === "FROM");
const stages = { build: instructions.slice(0, last), final: instructions.slice(last) };
const named = (stage: keyof typeof stages, name: string): string[] =>
  stages[stage].filter((each) => each.name === name).map(({ value }) => value);

describe("the Dockerfile", () => {
  it("has instructions alone", () => {
    expect(instructions.filter(({ name }) => name === "")).toEqual([]);
  });

  it("names its base exactly, and slim", () => {
    const [image = ""] = named("build", "ARG");
    expect(image).toMatch(/^NODE_IMAGE=docker\.io\/library\/node:\d+\.\d+\.\d+-[a-z]+-slim$/);
    const bases = instructions.filter(({ name }) => name === "FROM").map(({ value }) => value);
    expect(bases).toEqual(["${NODE_IMAGE} AS build", "${NODE_IMAGE}"]);
  });

  it("installs from the lockfile alone and runs no scripts of packages", () => {
    expect(named("build", "RUN")[0]).toMatch(/^npm ci --ignore-scripts\b/);
    expect(instructions.some(({ name }) => name === "ADD")).toBe(false);
  });

  it("ends as a user who is not root, with nothing built or installed in that stage", () => {
    expect(named("final", "USER")).toEqual(["1000:1000"]);
    expect(named("final", "RUN")).toEqual([]);
    expect(named("final", "COPY")).toEqual([
      "--from=build --chmod=0755 /out/knowctl.cjs /usr/local/bin/knowctl",
    ]);
    expect(named("final", "WORKDIR")).toEqual(["/work"]);
    expect(named("final", "HEALTHCHECK")).toEqual(["NONE"]);
    // Without a shell: signals reach the program.
    expect(JSON.parse(named("final", "ENTRYPOINT")[0]!)).toHaveLength(2);
  });

  it("holds no secret", () => {
    const set = instructions.filter(({ name }) => name === "ENV" || name === "ARG");
    expect(set.filter(({ value }) => /key|token|secret|password/i.test(value))).toEqual([]);
    expect(named("build", "COPY").join(" ")).not.toMatch(/(?:^| )\.(?: |$)/);
  });

  it("sends the builder only what it copies", () => {
    const rules = readFileSync(join(projectFolder, ".dockerignore"), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    const copied = named("build", "COPY").flatMap((value) => value.split(" ").slice(0, -1));
    expect(rules).toEqual(["*", ...copied.map((name) => `!${name}`)]);
  });
});

describe("the single file that it builds", () => {
  const hasOwnSqlite = process.getBuiltinModule("node:sqlite") !== undefined;

  // Where nothing of the project lies around it.
  let folder = "";
  // No engine is at hand in the tests: its build stage is done by hand, with the files that it copies.
  beforeAll(() => {
    const stage = mkdtempSync(join(tmpdir(), "knowctl-stage-"));
    folder = mkdtempSync(join(tmpdir(), "knowctl-bundle-"));
    const sources = named("build", "COPY").flatMap((value) => value.split(" ").slice(0, -1));
    for (const source of sources) {
      const options = { recursive: true, preserveTimestamps: true };
      cpSync(join(projectFolder, source), join(stage, source), options);
    }
    symlinkSync(join(projectFolder, "node_modules"), join(stage, "node_modules"), "dir");
    const build = named("build", "RUN")[1]!.replace("/out", folder).split(" ");
    const stdio: StdioOptions = ["ignore", "ignore", "inherit"];
    execFileSync(build[0]!, build.slice(1), { cwd: stage, stdio });
    rmSync(stage, { recursive: true, force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("runs by the name that it has in the image", async () => {
    const cwd = temporaryFolder();
    const program = join(cwd, "knowctl");
    cpSync(join(folder, "knowctl.cjs"), program);
    const ran = await runCli(["--version"], { cwd, env: {}, program });
    const text = readFileSync(join(projectFolder, "package.json"), "utf8");
    const { version } = JSON.parse(text) as { version: string };
    expect(ran).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  function run(args: string[], cwd: string, env = cleanEnvironment(cwd)) {
    return runCli(args, { cwd, env, program: join(folder, "knowctl.cjs") });
  }

  it.each([["ingest", "--help"], ["no-such"]])(
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
