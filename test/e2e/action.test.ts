import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpTexts } from "../../src/cli/program.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";
import { loadAction, runStep } from "./runner.ts";
import { type Place, preparePlace } from "./shell.ts";
import { packSmall, scope, startRegistry } from "./package.ts";

function expectNoCanary(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.includes("canary"))).toEqual([]);
}

describe("action", () => {
  const action = loadAction();
  const executable = join(projectFolder, "bin", "knowctl.cjs");

  /** Texts that a shell, a parser of flags or the runner would like to misread. */
  const hostile = [
    `it's "quoted" and \`touch canary\``,
    "$(touch canary) ${HOME} $HOME",
    "; touch canary; #",
    "| touch canary && touch canary > canary",
    "--dry-run",
    "-o json",
    "a\\ b\\",
    "*",
    "~",
    "%PATH% !history",
    "日本語 ü é \u{1f600}",
    "::set-output name=status::ok",
    "${{ secrets.KNOWCTL_API_KEY }}",
    "-",
    "--",
    " spaces around ",
  ];
  const several = ["first line", "$(touch canary)", "--force", "last line"].join("\n");

  /** Something that stands for knowctl and writes down what reached it. */
  const recorder = `require("node:fs").writeFileSync(process.env.RECORD, JSON.stringify({
  args: process.argv.slice(2),
  inputs: Object.keys(process.env).filter((name) => name.startsWith("INPUT_")),
  keys: [process.env.KNOWCTL_API_KEY, process.env.KNOWCTL_ACCESS_TOKEN, process.env.KNOWCTL_PROXY],
  trust: process.env.KNOWCTL_TRUST_PROJECT,
}));`;

  interface Recorded {
    args: string[];
    inputs: string[];
    keys: (string | undefined)[];
    trust?: string;
  }

  async function record(inputs: Record<string, string>): Promise<Recorded> {
    const folder = join(temporaryFolder(), "work");
    writeFiles(folder, { "recorder.cjs": recorder });
    const path = join(folder, "record.json");
    const env = cleanEnvironment(folder, { RECORD: path });
    const ran = await runStep("Upload", { executable: "recorder.cjs", ...inputs }, { folder, env });
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expectNoCanary(folder);
    return JSON.parse(readFileSync(path, "utf8")) as Recorded;
  }

  /** Arguments without the report, whose place is the runner's. */
  const withoutReport = (args: string[]): string[] =>
    args.filter((arg) => !arg.startsWith("--report=") && arg !== "--state=.knowctl");

  describe.runIf(process.platform !== "win32")("the GitHub action", () => {
    // Inputs with one value, in the order of their flags.
    const single =
      "base-url cc-pair-id connector dialect profile config timeout root since shard run id-prefix source sections anchors link link-style".split(
        " ",
      );

    it.each([0, 6, 12])("hands on a text as one argument, unread (turn %i)", async (turn) => {
      const texts = [...hostile, several];
      expect(single).toHaveLength(texts.length);
      const inputs = single.map((name, at) => [name, texts[(at + turn) % texts.length]!] as const);
      const recorded = await record(Object.fromEntries(inputs));
      expect(withoutReport(recorded.args)).toEqual([
        "ingest",
        ...inputs.map(([name, text]) => `--${name}=${text}`),
        "--",
      ]);
      expect(recorded.inputs).toEqual([]);
    });

    it("makes an argument of each line of a list, and no flag of a path", async () => {
      const { args } = await record({
        metadata: hostile.map((text) => `key=${text}`).join("\r\n"),
        tag: `one\n\n  \ntwo\n`,
        paths: [...hostile, "docs", "./a b", "../up", "/absolute", "documents"].join("\n"),
      });
      expect(withoutReport(args)).toEqual([
        "ingest",
        ...hostile.map((text) => `--metadata=key=${text}`),
        "--tag=one",
        "--tag=two",
        "--",
        ...hostile.map((text) => `./${text}`),
        "./docs",
        "./a b",
        "../up",
        "/absolute",
        "./documents",
      ]);
    });

    it("keeps keys out of the arguments, and leaves out what is empty", async () => {
      const keys = ["CANARY-key", "CANARY-token", "http://me:CANARY@proxy.example:1"];
      const [key, token, proxy] = keys as [string, string, string];
      const given = { "api-key": key, "access-token": token, proxy, "trust-project": "true" };
      const recorded = await record({ ...given, connector: "", metadata: "\n" });
      expect(withoutReport(recorded.args)).toEqual(["ingest", "--"]);
      expect(recorded).toMatchObject({ keys, trust: "1" });
      expect((await record({})).trust).toBeUndefined();
    });

    it("uploads what hostile inputs say, to the letter", async () => {
      const place = await preparePlace();
      const metadata = hostile.filter((text) => text.trim() === text);
      const { code, stderr, outputs } = await runStep(
        "Upload",
        {
          executable,
          paths: "docs",
          "cc-pair-id": "2",
          "id-prefix": "$(touch canary) `id` '\"/",
          metadata: metadata.map((text, at) => `key${at}=${text}`).join("\n"),
          "report-html": "out/$(touch canary).html",
        },
        place,
      );
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expectNoCanary(join(place.folder, "docs"));
      expect(existsSync(join(place.folder, "canary"))).toBe(false);
      expect(existsSync(join(place.folder, "out", "$(touch canary).html"))).toBe(true);
      const documents = [...place.sandbox.ledger.documents.values()].map(
        ([body]) =>
          body as {
            document: { id: string; metadata: Record<string, string> };
          },
      );
      expect(documents).toHaveLength(6);
      for (const { document } of documents) {
        expect(document.id.startsWith("$(touch canary) `id` '\"/docs/")).toBe(true);
        expect(document.metadata).toMatchObject(
          Object.fromEntries(metadata.map((text, at) => [`key${at}`, text])),
        );
      }
      expect(outputs).toMatchObject({ status: "ok", "exit-code": "0", created: "6", failed: "0" });
    });

    it("gives counts, the report, annotations and a summary; a second run sends nothing", async () => {
      const place = await preparePlace();
      writeFiles(place.folder, { "docs/broken.md": "---\na: [\n---\ntext\n" });
      const inputs = { executable, paths: "docs", "cc-pair-id": "2" };
      const first = await runStep("Upload", inputs, place);
      expect(first.code).toBe(10);
      expect(first.stderr).toMatch(/^::error .*file=docs\/broken\.md,line=3/m);
      expect(first.summary).toContain("## knowctl ingest");
      const { report = "", ...counts } = first.outputs;
      expect(counts).toEqual({
        "exit-code": "10",
        status: "partial",
        created: "6",
        updated: "0",
        unchanged: "0",
        // A draft.
        skipped: "1",
        failed: "1",
        changes: "",
      });
      expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject({ counts: { created: 6 } });
      const second = await runStep("Upload", inputs, place);
      expect(second.outputs).toMatchObject({ created: "0", unchanged: "6", failed: "1" });
    });

    it("tells with dry-run whether there is something to send", async () => {
      const place = await preparePlace();
      const inputs = { executable, paths: "docs", "cc-pair-id": "2" };
      const before = await runStep("Upload", { ...inputs, "dry-run": "true" }, place);
      expect(before).toMatchObject({ code: 0, outputs: { changes: "true", report: "" } });
      expect(await runStep("Upload", inputs, place)).toMatchObject({ code: 0 });
      const after = await runStep("Upload", { ...inputs, "dry-run": "true" }, place);
      expect(after).toMatchObject({ code: 0, outputs: { changes: "false", "exit-code": "0" } });
    });

    it.each([
      ["dry-run", "$(touch canary)\n::error::x", "input dry-run: expected true or false"],
      ["cache", "yes", "input cache: expected true or false"],
      ["report", "docs", "input report: expected a path that ends with .json"],
      ["report-junit", "a.html", "input report-junit: expected a path that ends with .xml"],
    ])("refuses %s=%j without repeating it", async (name, value, message) => {
      const folder = join(temporaryFolder(), "work");
      mkdirSync(folder);
      const env = cleanEnvironment(folder);
      const ran = await runStep("Upload", { executable, [name]: value }, { folder, env });
      expect(ran).toMatchObject({ code: 2, stderr: `::error title=knowctl action::${message}\n` });
      expectNoCanary(folder);
    });

    it("ends as knowctl does where an input is wrong, and takes no older report for its own", async () => {
      const place = await preparePlace();
      const inputs = { executable, paths: "docs", "cc-pair-id": "2" };
      await runStep("Upload", inputs, place);
      const { code, stderr, outputs } = await runStep("Upload", { ...inputs, rate: "fast" }, place);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--rate") });
      expect(outputs).toMatchObject({ "exit-code": "2", status: "", created: "", report: "" });
    });
  });

  describe("action.yml", () => {
    const upload = action.runs.steps.find(({ id }) => id === "ingest")!;
    const ofInstallation = ["tarball", "scope", "registry", "version"];

    it("maps each input to a variable of its name, and puts none into a script", () => {
      const own = new Set(["working-directory", "cache-key", ...ofInstallation]);
      const mapped = Object.keys(action.inputs).filter((name) => !own.has(name));
      const variables = (names: readonly string[]) =>
        Object.fromEntries(
          names.map((name) => [
            `INPUT_${name.replaceAll("-", "_").toUpperCase()}`,
            `\${{ inputs.${name} }}`,
          ]),
        );
      expect(upload.env).toEqual(variables(mapped));
      expect(action.runs.steps[0]!.env).toEqual(variables(ofInstallation));
      for (const { run = "" } of action.runs.steps) expect(run).not.toContain("${{");
    });

    it("has an input for what `ingest` has a flag for, and no other", () => {
      const flags = new Set(
        `${helpTexts()[""]}${helpTexts()["ingest"]}`
          .match(/^ +(?:-\w, )?--[a-z-]+/gm)
          ?.map((line) => line.replace(/.*--/, "")),
      );
      const own = new Set(
        [
          "paths",
          "working-directory",
          "api-key",
          "access-token",
          "trust-project",
          "cache",
          "cache-key",
        ].concat(["report-html", "report-junit", "executable"], ofInstallation),
      );
      for (const name of Object.keys(action.inputs)) {
        expect(own.has(name) || flags.has(name), name).toBe(true);
      }
      // What belongs to a terminal, to stdin, to the log, or to GitLab.
      const elsewhere = new Set(
        [
          "output",
          "json",
          "fields",
          "filter",
          "jq",
          "quiet",
          "verbose",
          "debug",
          "no-color",
        ].concat([
          "no-input",
          "id",
          "gitlab-report",
          "exit-code",
          "price-per-million",
          "print-config",
          "help",
          // A job ends.
          "watch",
          "every",
          "settle",
          "prune",
          "tombstone",
        ]),
      );
      const missing = [...flags].filter(
        (name) => !elsewhere.has(name) && action.inputs[name] === undefined,
      );
      const what =
        "add an input to action.yml and ingest.js in .github/actions/ingest/, or to elsewhere";
      expect(missing, what).toEqual([]);
    });

    it("hands on each output of its script", () => {
      for (const [name, { value }] of Object.entries(action.outputs)) {
        expect(value).toBe(`\${{ steps.ingest.outputs.${name} }}`);
      }
      const script = readFileSync(join(projectFolder, ".github/actions/ingest/ingest.js"), "utf8");
      for (const name of Object.keys(action.outputs)) expect(script).toContain(name);
    });
  });
});

describe("action install", () => {
  const install = (inputs: Record<string, string>, place: Place) =>
    runStep("Install knowctl", inputs, place);

  /** Runs `script` in place of npm, and writes down the arguments of each call. */
  function replaceNpm(place: Place, script = ""): () => string[] {
    const programs = join(place.folder, "..", "programs");
    mkdirSync(programs);
    writeFiles(programs, { npm: `#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/npm"\n${script}` });
    chmodSync(join(programs, "npm"), 0o755);
    place.env["PATH"] = `${programs}:${place.env["PATH"]}`;
    const calls = join(place.folder, "..", "runner", "npm");
    return () => (existsSync(calls) ? readFileSync(calls, "utf8").trimEnd().split("\n") : []);
  }

  describe.runIf(process.platform !== "win32")("the action's installation", () => {
    it("builds the checkout by default, and asks no registry for knowctl", async () => {
      const place = await preparePlace();
      // What npm installs is not here: the build of the test takes the program that is built already.
      const dist = join(projectFolder, "dist");
      const build = `process.getBuiltinModule("node:fs").cpSync(${JSON.stringify(dist)}, "dist", { recursive: true })`;
      const modules = join(projectFolder, "node_modules");
      const calls = replaceNpm(
        place,
        `[ -f scripts/build.js ] && ln -s '${modules}' node_modules &&
echo '${build}' > scripts/build.js\n`,
      );
      const built = await install({}, place);
      expect(built, built.stderr).toMatchObject({ code: 0 });
      expect(new Set(calls().map((call) => call.split(" ")[0]))).toEqual(new Set(["ci"]));
      expect(calls().join(" ")).not.toContain("knowctl");
      // test/dockerfile.test.ts builds the program of what its stage copies.
      const copied = readFileSync(join(projectFolder, "Dockerfile"), "utf8").matchAll(
        /^COPY (?!--)(.+) \S+$/gm,
      );
      const needed = [...copied].flatMap(([, names]) => names!.split(" "));
      const builtFolder = join(place.folder, "..", "runner", "knowctl", "node_modules", "knowctl");
      expect(readdirSync(builtFolder)).toEqual(expect.arrayContaining(needed));
      const inputs = { paths: "docs", "cc-pair-id": "2" };
      const ran = await runStep("Upload", inputs, place);
      expect(ran, ran.stderr).toMatchObject({ code: 0, outputs: { created: "6" } });
    });

    it("says that knowctl is not published where its source is not beside the action", async () => {
      const place = await preparePlace();
      const calls = replaceNpm(place);
      const copied = join(place.folder, ".github", "actions", "ingest");
      mkdirSync(copied, { recursive: true });
      for (const name of ["action.yml", "install.sh", "ingest.js"]) {
        copyFileSync(join(projectFolder, ".github/actions/ingest", name), join(copied, name));
      }
      const { code, stdout } = await runStep("Install knowctl", {}, place, copied);
      expect({ code, calls: calls() }).toEqual({ code: 2, calls: [] });
      expect(stdout).toBe(
        "::error title=knowctl action::knowctl is not published, and its source is not beside this action; give the input tarball, or scope and registry\n",
      );
    });

    it("installs a tarball of the workspace, which the next step runs", async () => {
      const place = await preparePlace();
      mkdirSync(join(place.folder, "a b"));
      copyFileSync(packSmall().path, join(place.folder, "a b", "#1 $(touch canary).tgz"));
      const installed = await install({ tarball: "a b/#1 $(touch canary).tgz" }, place);
      expect(installed, installed.stderr).toMatchObject({ code: 0 });
      const { code, stdout } = await runStep("Upload", { paths: "docs" }, place);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^small knowctl: ingest .*-- \.\/docs\n$/),
      });
      expect(existsSync(join(place.folder, "canary"))).toBe(false);
    });

    it("installs a scope from its registry", async () => {
      const place = await preparePlace();
      const name = `${scope}/knowctl`;
      const { url, version, requests } = await startRegistry(name);
      const installed = await install({ registry: `${url}/`, version, scope }, place);
      expect(installed, installed.stderr).toMatchObject({ code: 0 });
      expect(requests).toEqual([`/${name}`, "/knowctl.tgz"]);
      const { stdout } = await runStep("Upload", {}, place);
      expect(stdout).toContain("small knowctl: ingest");
    });

    it("asks only the named registry, whatever the runner's folders and variables say", async () => {
      const place = await preparePlace();
      const { url, version } = await startRegistry(`${scope}/knowctl`);
      const other = await startRegistry("other");
      place.env["npm_config_registry"] = other.url;
      writeFiles(join(place.folder, "..", "runner"), { "package.json": '{"name":"other"}' });
      const installed = await install({ registry: url, version, scope }, place);
      expect(installed, installed.stderr).toMatchObject({ code: 0 });
      expect(other.requests).toEqual([]);
      const { stdout } = await runStep("Upload", {}, place);
      expect(stdout).toContain("small knowctl: ingest");
    });

    it("installs into its own place where a folder above has a package", async () => {
      const place = await preparePlace();
      const above = join(place.folder, "..", "runner");
      writeFiles(above, { "package.json": '{"name":"other"}' });
      copyFileSync(packSmall().path, join(place.folder, "a.tgz"));
      const installed = await install({ tarball: "a.tgz" }, place);
      expect(installed, installed.stderr).toMatchObject({ code: 0 });
      expect(existsSync(join(above, "node_modules"))).toBe(false);
      expect((await runStep("Upload", {}, place)).stdout).toContain("small knowctl: ingest");
    });

    it("takes the action's own version of a scope, from the registry that npm uses", async () => {
      const place = await preparePlace();
      const calls = replaceNpm(place);
      expect(await install({ scope: "@your-org" }, place)).toMatchObject({ code: 0 });
      const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
      expect(calls()).toEqual([expect.stringMatching(/ knowctl@npm:@your-org\/knowctl@[\d.]+$/)]);
      expect(calls()[0]!.endsWith(`@${version}`)).toBe(true);
      expect(existsSync(join(place.folder, "..", "runner", "knowctl", ".npmrc"))).toBe(false);
    });

    const bare = "the bare name knowctl is not installed from a registry; give the input scope";
    const refused: [Record<string, string>, string][] = [
      [{ version: "1.0.0" }, bare],
      [{ registry: "https://a.example:99999/" }, "input registry: expected an https address"],
      [{ registry: "https://me:secret@a.example/" }, "input registry: expected an https address"],
      [{ registry: "https://packages.example/", version: "1.2.3" }, bare],
      [{ registry: "https://packages.example/" }, bare],
      [{ registry: "http://registry.example" }, "input registry: expected an https address"],
      [
        { registry: "https://a.example\n//b.example/:_authToken=x" },
        "input registry: expected an https address",
      ],
      [{ scope: "acme" }, "input scope: expected an npm scope such as @your-org"],
      [{ scope: "@a/../x" }, "input scope: expected an npm scope such as @your-org"],
      [{ scope: "@a\n@b" }, "input scope: expected an npm scope such as @your-org"],
      [
        { tarball: "knowctl" },
        "input tarball: expected a file or an https address that ends with .tgz",
      ],
      [{ tarball: "none.tgz" }, "input tarball: no such file in the workspace"],
      [{ tarball: "a.tgz", scope: "@a" }, "input tarball excludes registry, scope and version"],
      ...["--global", "$(touch canary)", "1.0.0 evil", "1;touch canary", "/x", "1\n2"].map(
        (version): [Record<string, string>, string] => [
          { version, scope: "@a" },
          "input version: expected a version such as 1.0.0",
        ],
      ),
    ];
    it.each(refused)("refuses %j without repeating it or running npm", async (inputs, message) => {
      const place = await preparePlace();
      const calls = replaceNpm(place);
      const { code, stdout } = await install(inputs, place);
      expect({ code, calls: calls() }).toEqual({ code: 2, calls: [] });
      expect(stdout).toBe(`::error title=knowctl action::${message}\n`);
      expectNoCanary(place.folder);
    });
  });
});
