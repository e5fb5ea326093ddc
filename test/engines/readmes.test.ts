import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpTexts, topicTexts } from "../../src/cli/program.ts";
import { enginesFolder, examplesFolder, works } from "./place.ts";

const paths = readdirSync(examplesFolder, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /^(?:engines|always-on)\//.test(path));
const readmes = paths.filter((path) => path.endsWith("README.md"));

describe.each(readmes)("examples/%s", (path) => {
  const text = readFileSync(join(examplesFolder, path), "utf8");
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, body]) => body!);

  it("fits a screen", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(45);
  });

  it("has links that lead to files", () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(
      ([, target]) => target!,
    );
    for (const target of targets) {
      expect(existsSync(join(examplesFolder, dirname(path), target)), target).toBe(true);
    }
  });

  it("has blocks that a shell can read", () => {
    for (const block of blocks) {
      const { stderr } = spawnSync("sh", ["-n"], { input: block, encoding: "utf8" });
      expect(stderr, block).toBe("");
    }
  });
});

it("each folder of an engine has a README, which the index links", () => {
  const index = readFileSync(join(enginesFolder, "README.md"), "utf8");
  const folders = readdirSync(enginesFolder, { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  expect(folders.length).toBeGreaterThan(1);
  for (const { name } of folders) {
    expect(readmes).toContain(`engines/${name}/README.md`);
    expect(index).toContain(`](${name})`);
  }
});

it.runIf(works("python3", "--version"))("Python can read each of its files", () => {
  const files = paths.filter((path) => path.endsWith(".py"));
  expect(files.length).toBeGreaterThan(1);
  const script = "import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path).read(), path)";
  const args = files.map((path) => join(examplesFolder, path));
  const { status, stderr } = spawnSync("python3", ["-c", script, ...args], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

it("every flag of knowctl in the examples exists", () => {
  const texts = [...Object.values(helpTexts()), topicTexts()["global-flags"]!];
  const known = new Set(texts.flatMap((help) => help.match(/--[a-z][a-z-]+/g) ?? []));
  let found = 0;
  for (const path of paths.filter((each) => /\.\w+$/.test(each))) {
    const text = readFileSync(join(examplesFolder, path), "utf8").replaceAll("\\\n", " ");
    for (const [command] of text.matchAll(
      /knowctl (?:ingest|convert|report merge|state \w+)\b[^|;\n`]*/g,
    )) {
      for (const flag of command.match(/(?<![\w-])--[a-z][a-z-]+/g) ?? []) {
        expect(known, `${path}: ${command}`).toContain(flag);
        found += 1;
      }
    }
  }
  expect(found).toBeGreaterThan(5);
});
