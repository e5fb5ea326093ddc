import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { helpTexts, topicTexts } from "../../src/cli/program.ts";
import { blocksOf, pipelinePages, readPage, type Block } from "../docs/pages.ts";
import { writeFiles } from "../service.ts";
import { projectFolder } from "../support.ts";
import { preparePlace, runShell, type Place } from "./shell.ts";

const folder = join(projectFolder, "docs");
const blocks = pipelinePages.flatMap(blocksOf);

/** What a runner puts in place before a shell sees the script. */
const withoutExpressions = (script: string): string => script.replace(/\$\{\{.*?\}\}/g, "x");

/** Scripts of a workflow or a pipeline: the values of `run`, `script` and the like, at any depth. */
function scriptsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(scriptsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const isScript = name === "run" || name === "script" || name === "before_script";
    return isScript ? [each].flat().map(String) : scriptsIn(each);
  });
}

const workflows = blocks
  .filter(({ language }) => language === "yaml")
  .map(({ body }) => ({ body, value: load(body) }));
const scripts = workflows.flatMap(({ value }) => scriptsIn(value)).map(withoutExpressions);

/** Runs a block, once for each value of the variable that its mark names, all at once. */
async function run({ body, mark }: Block, place: Place) {
  // The folders of a container stand in that of the test.
  const script = body.replace(/(?<=[\s"])\/(shared|content|tmp)\b/g, `${place.folder}/$1`);
  const [, name = "NONE", from = 0, to = 0] = / (\w+) from (\d+) to (\d+)/.exec(mark) ?? [];
  const values = Array.from(
    { length: Number(to) - Number(from) + 1 },
    (_, at) => Number(from) + at,
  );
  const results = await Promise.all(
    values.map((value) => {
      const own = script.replaceAll("/tmp/state", `/tmp/state-${value}`);
      return runShell(own, { ...place, env: { ...place.env, [name]: String(value) } });
    }),
  );
  return {
    code: Math.max(...results.map(({ code }) => code ?? 1)),
    stderr: results.map(({ stderr }) => stderr).join(""),
  };
}

/** Three documents as a program writes them. */
function lines(from: number): string {
  const all = [from, from + 1, from + 2].map((number) => ({
    id: `faq/${number}`,
    semantic_identifier: `Question ${number}`,
    sections: [{ text: "Answer." }],
    source: "file",
    metadata: {},
  }));
  return `${all.map((each) => JSON.stringify(each)).join("\n")}\n`;
}

const isShellThere = process.platform !== "win32";

describe.runIf(isShellThere)("the pages about pipelines", () => {
  const runnable = blocks.filter(({ mark }) => mark.startsWith("runnable"));

  it.each(runnable.map((block) => [block.body.split("\n")[0]!, block] as const))(
    "works as it is written: %s",
    async (_first, block) => {
      const place = await preparePlace();
      for (const name of ["shared", "tmp"]) mkdirSync(join(place.folder, name));
      writeFiles(place.folder, { "documents/part-0": lines(0), "documents/part-1": lines(3) });
      await runShell("cp -r docs content", place);
      const { code, stderr } = await run(block, place);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.not.stringMatching(/error|warning/),
      });
      const again = await run(block, place);
      expect(again).toMatchObject({ code: 0 });
      if (block.body.includes("knowctl chat")) {
        // A batch with --resume asks nothing twice; this block ran twice, each time anew.
        const messages = place.sandbox.ledger.chats.map((body) => body["message"]);
        expect(messages).toHaveLength(2 * new Set(messages).size);
        return;
      }
      const sent = [...place.sandbox.ledger.documents.values()];
      const rows = block.body.includes("--format csv") ? 1 : 2;
      expect(sent).toHaveLength(block.body.includes("printf") ? rows : 6);
      expect(sent.filter((bodies) => bodies.length !== 1)).toEqual([]);
    },
  );

  it("has shell blocks and scripts without a mistake of syntax", () => {
    const shell = blocks.filter(({ language }) => language === "sh").map(({ body }) => body);
    expect(shell.length).toBeGreaterThan(4);
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of [...shell, ...scripts]) {
      const { status, stderr } = spawnSync("sh", ["-n"], { input: script, encoding: "utf8" });
      expect({ status, stderr }, script).toEqual({ status: 0, stderr: "" });
    }
  });

  it("names the script of the Job by what the Job runs", () => {
    expect(readPage("docs/shards.md")).toContain("command: [sh, /scripts/upload.sh]");
    expect(runnable.some(({ mark }) => mark.includes("JOB_COMPLETION_INDEX"))).toBe(true);
  });
});

it("workflows never put an expression into a script", () => {
  for (const { value } of workflows) {
    for (const script of scriptsIn(value)) expect(script).not.toContain("${{");
  }
  expect(workflows.length).toBeGreaterThan(3);
});

// Flags of other programs that the documentation shows.
const foreign = new Set(
  // npm, git, pre-commit, docker.
  "--global --ignore-scripts --omit --unshallow --hook-type --rm --volume --user --env --build-arg --provenance --access --package-lock-only".split(
    " ",
  ),
);

it("every flag that the documentation names is one of the program", () => {
  const texts = [...Object.values(helpTexts()), topicTexts()["global-flags"]!];
  const known = new Set(texts.flatMap((help) => help.match(/--[a-z][a-z-]+/g) ?? []));
  const names = readdirSync(folder).filter(
    (name) => name.endsWith(".md") && name !== "commands.md",
  );
  const pages = [...names.map((name) => join("docs", name)), "README.md"];
  for (const page of pages) {
    const found = readFileSync(join(projectFolder, page), "utf8").match(
      /(?<![\w-])--[a-z][a-z-]+/g,
    );
    const unknown = [...new Set(found)].filter((flag) => !known.has(flag) && !foreign.has(flag));
    expect(unknown, page).toEqual([]);
  }
});
