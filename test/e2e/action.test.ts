import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpTexts } from "../../src/cli/program.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";
import { loadAction, runStep } from "./runner.ts";
import { preparePlace } from "./shell.ts";

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

function expectNoCanary(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.includes("canary"))).toEqual([]);
}

/** Arguments without the report, whose place is the runner's. */
const withoutReport = (args: string[]): string[] =>
  args.filter((arg) => !arg.startsWith("--report=") && arg !== "--state=.knowctl");

describe.runIf(process.platform !== "win32")("the GitHub action", () => {
  it.each([...hostile, several])("hands on %j as one argument, unread", async (text) => {
    const { args, inputs } = await record({ "id-prefix": text, link: text, since: text });
    expect(withoutReport(args)).toEqual([
      "ingest",
      `--since=${text}`,
      `--id-prefix=${text}`,
      `--link=${text}`,
      "--",
    ]);
    expect(inputs).toEqual([]);
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
    const place = await preparePlace();
    const ran = await runStep("Upload", { executable, [name]: value }, place);
    expect(ran).toMatchObject({ code: 2, stderr: `::error title=knowctl action::${message}\n` });
    expectNoCanary(place.folder);
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
      ["output", "json", "fields", "filter", "jq", "quiet", "verbose", "debug", "no-color"].concat([
        "no-input",
        "id",
        "gitlab-report",
        "exit-code",
        "print-config",
        "help",
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
