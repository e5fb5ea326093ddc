import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, lstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesInThisThread } from "../../src/documents/inspect/open-inspector.ts";
import type { Looked } from "../../src/documents/inspect/inspection.ts";
import { same } from "../../src/documents/inspect/recorded.ts";
import { stampOf } from "../../src/documents/files/source-file.ts";
import { patienceMs } from "../patience.ts";
import { follow, keepEnded, lineOf } from "../ran.ts";
import { runHere } from "../main.ts";
import { startTestService, writeFiles } from "../service.ts";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";

const binary = join(projectFolder, "bin", "knowctl.cjs");

interface Loaded {
  /** Through require(), relative to the project. */
  files: string[];
  /** Whether it asked for node:crypto. */
  hasCrypto: boolean;
  /** Whether it asked for node:tty. */
  hasTerminals: boolean;
  /** Whether it asked for node:tls. */
  hasTls: boolean;
  /** Whether it used tables of languages, which costs 10 ms. */
  hasLanguages: boolean;
}

/** What a command line loads. */
async function loaded(args: string[], env: Record<string, string> = {}): Promise<Loaded> {
  const home = temporaryFolder();
  const script = `
    process.argv = [process.argv[0], ${JSON.stringify(binary)}, ...${JSON.stringify(args)}];
    const Module = require("node:module");
    const load = Module._load;
    let hasCrypto = false;
    let hasTerminals = false;
    let hasTls = false;
    let hasLanguages = false;
    const note = (of, name) => {
      const used = (way) => (...all) => {
        hasLanguages = true;
        return way(...all);
      };
      const watched = { apply: used(Reflect.apply), construct: used(Reflect.construct) };
      of[name] = new Proxy(of[name], watched);
    };
    for (const name of ["Collator", "NumberFormat", "DateTimeFormat", "RelativeTimeFormat"]) note(Intl, name);
    note(String.prototype, "localeCompare");
    note(Number.prototype, "toLocaleString");
    Module._load = function (name) {
      hasCrypto ||= name === "node:crypto";
      hasTerminals ||= name === "node:tty";
      hasTls ||= name === "node:tls";
      return load.apply(this, arguments);
    };
    process.on("exit", () => {
      const files = Object.keys(require.cache).map((path) => path.slice(${projectFolder.length + 1}));
      require("node:fs").writeSync(2, "\\nloaded:" + JSON.stringify({ files, hasCrypto, hasTerminals, hasTls, hasLanguages }));
    });
    require(${JSON.stringify(binary)});`;
  // Not synchronously: the sandbox that it may ask lives in this process.
  const child = spawn(process.execPath, ["-e", script], {
    cwd: home,
    env: cleanEnvironment(home, env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { code, stderr } = await follow(child, lineOf(["knowctl", ...args]), home).ended;
  expect(code).toBe(0);
  return JSON.parse(stderr.split("\nloaded:")[1] ?? "{}") as Loaded;
}

const loadedFiles = async (args: string[], env?: Record<string, string>): Promise<string[]> =>
  (await loaded(args, env)).files;

describe("start-up", () => {
  it.each([["--version"], ["--help"], ["-h"]])(
    "answers %j with two files, without those of commands and of terminals",
    async (...args) => {
      const { files, hasTerminals } = await loaded(args);
      expect(files).toEqual(["bin/knowctl.cjs", "dist/help.json"]);
      expect(hasTerminals).toBe(false);
    },
  );

  it.each([
    ["ingest", "--help"],
    ["connectors", "list", "-h"],
    ["help", "environment"],
  ])("answers %j with two files", async (...args) => {
    expect(await loadedFiles(args)).toEqual(["bin/knowctl.cjs", "dist/help-commands.json"]);
  });

  it("loads neither database, documents nor sandbox to list connectors", async () => {
    const service = await startTestService();
    const { files, hasTls } = await loaded(["connectors", "list"], service.env);
    expect(hasTls).toBe(false);
    const code = files.map((path) => readFileSync(join(projectFolder, path), "utf8")).join("\n");
    expect(code).toContain("cc_pair_id");
    for (const part of [
      "DatabaseSync",
      "YAMLException",
      "startSandbox",
      "class WebSocket",
      "cli-spinners",
      "mergeImportArrays",
      "toJSONSchema",
    ]) {
      expect(code.includes(part), part).toBe(false);
    }
    expect(files.length).toBeLessThanOrEqual(20);
  });

  it("completes with neither commander, schema nor client", async () => {
    const { files, hasCrypto } = await loaded(["__complete", "zsh", "", "connectors", "find"]);
    expect(hasCrypto).toBe(false);
    expect(files.length).toBeLessThanOrEqual(8);
    const code = files.map((path) => readFileSync(join(projectFolder, path), "utf8")).join("\n");
    for (const part of ["CommanderError", "zod", "undici", "js-yaml"]) {
      expect(code.includes(part), part).toBe(false);
    }
  });

  it("loads neither what reads documents nor what matches patterns when nothing changed", async () => {
    const service = await startTestService({ files: { "docs/a.md": "# A\n" } });
    const args = ["ingest", join(service.folder, "docs"), "--cc-pair-id", "2"];
    const load = async (...flags: string[]): Promise<string[]> => {
      const files = await loadedFiles([...args, ...flags], service.env);
      const code = files.map((path) => readFileSync(join(projectFolder, path), "utf8")).join("\n");
      return ["YAMLException", "picomatch"].filter((part) => code.includes(part));
    };
    // Read within the clock tick in which it was written, a file is read again.
    const options = { cwd: service.folder, env: service.env };
    for (let run = 0; run < 2; run++) expect((await runHere(args, options)).code).toBe(0);
    expect(await load()).toEqual([]);
    expect(await load("--include", "*.md")).toEqual(["picomatch"]);
  });

  it.each([
    ["connectors", "list"],
    ["ingest", "docs", "--cc-pair-id", "2"],
    ["status", "docs", "--cc-pair-id", "2"],
    ["lint", "docs"],
    ["chat", "hello"],
  ])("needs no tables of languages for %j %j", async (...args) => {
    const service = await startTestService({
      files: { "docs/a.md": "# Guide\n\nWords of it.\n", "docs/b.md": "# Plan\n\nOther words.\n" },
    });
    const inFolder = args.map((each) => (each === "docs" ? join(service.folder, each) : each));
    const { hasLanguages } = await loaded(inFolder, service.env);
    expect(hasLanguages).toBe(false);
  });

  it("loads what reads HTML for Markdown only where layouts are HTML", async () => {
    const service = await startTestService({
      files: {
        "docs/a.md": "---\ntitle: A\n---\n# A\n",
        "site/hugo.toml": "",
        "site/layouts/shortcodes/note.html": "<b>loud</b>",
        "site/content/b.md": "# B\n\n{{< note >}}\n",
      },
    });
    const load = async (folder: string): Promise<string> => {
      const args = ["ingest", join(service.folder, folder), "--cc-pair-id", "2"];
      const files = await loadedFiles(args, service.env);
      return files.map((path) => readFileSync(join(projectFolder, path), "utf8")).join("\n");
    };
    const code = await load("docs");
    expect(code).toContain("function readMarkdown(");
    expect(code).not.toContain("createIncrementalHTMLParser");
    // Schemas of the output of verify and lint.
    expect(code).not.toContain("the requests in their order");
    expect(await load("site")).toContain("createIncrementalHTMLParser");
    expect(JSON.stringify([...service.sandbox.ledger.documents])).toContain("**loud**");
  });

  it("loads nothing that reads documents into the thread that sends them", async () => {
    const names = Array.from(
      { length: filesInThisThread + 50 },
      (_, index) => `docs/d${index % 21}/${index}.md`,
    );
    const service = await startTestService({
      files: Object.fromEntries(names.map((name) => [name, `---\ntitle: T\n---\n${name}\n`])),
    });
    const args = ["ingest", join(service.folder, "docs"), "--cc-pair-id", "2"];
    const files = await loadedFiles([...args, "--concurrency", "32"], service.env);
    expect(service.sandbox.ledger.requestCount).toBeGreaterThan(names.length);
    const code = files.map((path) => readFileSync(join(projectFolder, path), "utf8")).join("\n");
    for (const part of [
      "YAMLException",
      "function readMarkdown(",
      "function mapDocument(",
      "picomatch",
    ]) {
      expect(code.includes(part), part).toBe(false);
    }
  });

  it("loads nothing that reads documents into threads that only compare stamps", () => {
    const path = "package.json";
    const stamp = stampOf(lstatSync(join(projectFolder, path), { bigint: true }));
    const item = { path, absolutePath: undefined, stamp, content: undefined };
    const message = { kind: "look", items: [item] };
    const script = `
      const { Worker } = require("node:worker_threads");
      const { join } = require("node:path");
      const workerData = { setup: { settings: { root: process.cwd() } }, done: new Int32Array(new SharedArrayBuffer(4)) };
      const code = "require(" + JSON.stringify(join(process.cwd(), "dist", "worker.cjs")) + ");"
        + "require('node:worker_threads').parentPort.on('message', () => require('node:worker_threads').parentPort.postMessage(Object.keys(require.cache)));";
      const worker = new Worker(code, { eval: true, workerData });
      const answers = [];
      worker.on("message", (answer) => {
        if (answers.push(answer) === 2) { console.log(JSON.stringify(answers)); worker.terminate(); }
      });
      worker.postMessage(${JSON.stringify(message)});`;
    const result = spawnSync(process.execPath, ["-e", script], {
      cwd: projectFolder,
      encoding: "utf8",
      timeout: patienceMs,
    });
    keepEnded(lineOf(["node", "-e", script]), projectFolder, result);
    const answers = JSON.parse(result.stdout) as (string[] | Looked[])[];
    expect(answers).toContainEqual([same]);
    const files = answers.find(([each]) => typeof each === "string") as string[];
    expect(files.length).toBeGreaterThan(1);
    const text = files.map((path) => readFileSync(path, "utf8")).join("\n");
    for (const part of ["js-yaml", "micromatch", "node:zlib"]) {
      expect(text.includes(part), part).toBe(false);
    }
  });

  it("loads for a plain question neither schemas, files, sessions nor Markdown", async () => {
    const service = await startTestService();
    const files = await loadedFiles(["chat", "hello"], { ...service.env, KNOWCTL_DIALECT: "" });
    const code = files.map((path) => readFileSync(join(projectFolder, path), "utf8")).join("\n");
    expect(code).toContain("waiting for the answer");
    for (const part of [
      "$ZodType",
      "uploading ",
      "no session begins with",
      "is not a recording",
      "bracketedPaste",
      "StringStream",
      "DatabaseSync",
      "YAMLException",
      "cli-spinners",
      "mergeImportArrays",
      "toJSONSchema",
      "RGI_Emoji",
    ]) {
      expect(code.includes(part), part).toBe(false);
    }
    expect(files.length).toBeLessThanOrEqual(45);
  });

  it("refuses a Node that is too old, in words", () => {
    const script = `
      Object.defineProperty(process.versions, "node", { value: "18.20.0" });
      require(${JSON.stringify(binary)});`;
    const result = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
    keepEnded(lineOf(["node", "-e", script]), projectFolder, result);
    expect(result.status).toBe(2);
    expect(result.stderr).toContain("needs Node 20.19 or newer");
  });
});

describe("standard output", () => {
  it("that is full is an error", () => {
    const full = openSync("/dev/full", "w");
    try {
      const result = spawnSync(process.execPath, [binary, "--help"], {
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8",
      });
      keepEnded("knowctl --help > /dev/full", projectFolder, result);
      expect(result.status).toBe(14);
      expect(result.stderr).toContain("cannot write the output: the disk is full");
    } finally {
      closeSync(full);
    }
  });

  it("that is closed early ends help quietly", () => {
    const shell = `${process.execPath} ${binary} --help | head -1; echo "\${PIPESTATUS[0]}"`;
    const out = execFileSync("bash", ["-c", shell], { encoding: "utf8" });
    expect(out).toMatch(/^Upload documents .*\n0\n$/);
  });
});

it("an end before that of the command is no success", () => {
  const folder = temporaryFolder();
  writeFiles(folder, {
    "dist/context.cjs": "exports.systemContext = () => ({});",
    "dist/main.cjs": "exports.main = () => new Promise(() => {});",
    "dist/worker.cjs": "",
    "dist/help.json": "{}",
    "package.json": "{}",
    "bin/knowctl.cjs": readFileSync(binary, "utf8"),
  });
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "bin/knowctl.cjs"), "x"], {
    encoding: "utf8",
  });
  expect(stderr).toContain("knowctl ended before the command did");
  expect(status).toBe(1);
});
