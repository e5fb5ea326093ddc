import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { formats } from "../../src/documents/formats/formats.ts";
import { helpTexts } from "../../src/cli/program.ts";
import type { CliResult } from "../ran.ts";
import { writeFiles } from "../service.ts";
import { projectFolder } from "../support.ts";
import { preparePlace, runShell, type Place } from "./shell.ts";

interface Hook {
  id: string;
  entry: string;
  args?: string[];
  language: string;
  files?: string;
  pass_filenames?: boolean;
}

const hooks = load(readFileSync(join(projectFolder, ".pre-commit-hooks.yaml"), "utf8")) as Hook[];

/** A hook's `files` as pre-commit reads it: a pattern of Python, found anywhere in the path. */
function patternOf(id: string): RegExp {
  const { files = "" } = hooks.find((each) => each.id === id)!;
  const plain = files.replace("(?i)", "");
  return new RegExp(plain, plain === files ? "" : "i");
}

/** Runs a hook as pre-commit does: the words of entry and args, then the files, no shell. */
async function runHook(id: string, files: string[], place: Place): Promise<CliResult> {
  const {
    entry,
    args = [],
    pass_filenames: takesFiles = true,
  } = hooks.find((each) => each.id === id)!;
  const words = [...entry.split(" "), ...args, ...(takesFiles ? files : [])];
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  // Nothing to reach and no key: a hook needs neither.
  const env = { ...place.env, KNOWCTL_BASE_URL: "http://127.0.0.1:9", KNOWCTL_API_KEY: "" };
  return await runShell(quoted.join(" "), { folder: place.folder, env });
}

describe.runIf(process.platform !== "win32")("the pre-commit hooks", () => {
  it("knowctl-documents reads the changed files, whatever their names are", async () => {
    const place = await preparePlace();
    writeFiles(place.folder, {
      "--force.md": "# A\n",
      explain: "# B\n",
      "$(touch canary) 'x'.md": "# C\n",
      "bad.md": "---\na: [\n---\n",
      "draft.md": "---\ndraft: true\n---\n# D\n",
    });
    const good = ["--force.md", "$(touch canary) 'x'.md", "docs/welcome.md", "draft.md"];
    const ran = await runHook("knowctl-documents", good, place);
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({
      code: 0,
      stderr: "dry run, nothing was sent: 3 to send, 1 skipped\n",
    });
    const { code, stdout } = await runHook("knowctl-documents", [...good, "bad.md"], place);
    expect(code).toBe(10);
    expect(stdout).toMatch(/^failed\tbad\.md\t\t3:1: /m);
    expect(existsSync(join(place.folder, "canary"))).toBe(false);
  });

  it("knowctl-documents takes every format that a folder gives", () => {
    const pattern = patternOf("knowctl-documents");
    for (const { gives, extensions } of Object.values(formats)) {
      for (const extension of extensions) {
        const taken = [extension, extension.toUpperCase(), `${extension}.gz`].map((each) =>
          pattern.test(`a.${each}`),
        );
        // A folder gives no rows, and binary formats are not packed.
        const isRead = gives !== "rows";
        const what = "change the pattern of knowctl-documents in .pre-commit-hooks.yaml";
        expect({ extension, taken }, what).toEqual({
          extension,
          taken: [isRead, isRead, gives === "text"],
        });
      }
    }
    expect(["md", "a.mdx.bak", "notes.restored"].filter((name) => pattern.test(name))).toEqual([]);
  });

  it("knowctl-project finds two documents with one id", async () => {
    const place = await preparePlace();
    writeFiles(place.folder, { ".cliconfig.json": '{"ingest":{"include":["docs/**/*.md"]}}' });
    expect(await runHook("knowctl-project", [], place)).toMatchObject({
      code: 0,
      stderr: "dry run, nothing was sent: 6 to send, 1 skipped\n",
    });
    writeFiles(place.folder, {
      "docs/a.md": "---\nid: same\n---\n# A\n",
      "docs/b.md": "---\nid: same\n---\n# B\n",
    });
    expect(await runHook("knowctl-project", [], place)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("same"),
    });
  });

  it("knowctl-config names what is wrong in the configuration", async () => {
    const place = await preparePlace();
    writeFiles(place.folder, { ".cliconfig.json": '{"ingest":{"inlcude":["docs"]}}' });
    const { code, stderr } = await runHook("knowctl-config", [], place);
    expect(code).toBe(3);
    expect(stderr).toMatch(/\.cliconfig\.json:1:\d+: unknown key ingest\.inlcude/);
  });

  it("say which files they are for, and run commands that exist", () => {
    const commands = helpTexts();
    for (const { entry, language } of hooks) {
      expect(language).toBe("system");
      const words = entry.split(" ").slice(1);
      const path = words.filter((word) => !word.startsWith("-")).join(" ");
      const help = `${commands[""]}${commands[path]}`;
      for (const flag of words.filter((word) => word.startsWith("--")))
        expect(help).toContain(flag);
    }
    const config = patternOf("knowctl-config");
    expect(
      [".cliconfig.json", "a/.cliconfig", "x.cliconfig.json"].map((name) => config.test(name)),
    ).toEqual([true, true, false]);
  });
});

// The members of a hook in pre-commit 3.0, the version of Debian 12, and what each must be.
const members: Record<string, (value: unknown) => boolean> = {
  id: isText,
  name: isText,
  description: isText,
  entry: isText,
  language: (value) => value === "system",
  files: isText,
  args: (value) => Array.isArray(value) && value.every(isText),
  pass_filenames: isSwitch,
  always_run: isSwitch,
  require_serial: isSwitch,
};

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isSwitch(value: unknown): boolean {
  return typeof value === "boolean";
}

// Any `stages` breaks one version or makes another warn; see the head of the file.
it("the hooks have only members that every pre-commit since 3.0 reads without a warning", () => {
  for (const hook of hooks) {
    const wrong = Object.entries(hook).filter(([name, value]) => !members[name]?.(value));
    expect(wrong, hook.id).toEqual([]);
    for (const name of ["id", "name", "entry", "language"]) expect(hook).toHaveProperty(name);
  }
});

const hasPreCommit = spawnSync("pre-commit", ["--version"]).status === 0;

it.runIf(hasPreCommit)("pre-commit loads and runs the hooks", async () => {
  const place = await preparePlace();
  const git = (folder: string, ...args: string[]): void => {
    const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    execFileSync("git", [...who, ...args], { cwd: folder, stdio: "ignore" });
  };
  const hookFolder = join(place.folder, "..", "hooks");
  writeFiles(hookFolder, {});
  cpSync(join(projectFolder, ".pre-commit-hooks.yaml"), join(hookFolder, ".pre-commit-hooks.yaml"));
  git(hookFolder, "init", "-q");
  git(hookFolder, "add", ".");
  git(hookFolder, "commit", "-qm", "hooks");
  git(hookFolder, "tag", "v1.0.0");
  const config = {
    repos: [{ repo: hookFolder, rev: "v1.0.0", hooks: hooks.map(({ id }) => ({ id })) }],
  };
  writeFiles(place.folder, {
    ".pre-commit-config.yaml": JSON.stringify(config),
    ".cliconfig.json": '{"ingest":{"include":["docs/**/*.md"]}}',
  });
  git(place.folder, "add", "-A");
  const run = () => runShell("pre-commit run --all-files --color never", place);
  const good = await run();
  expect(good, good.stdout).toMatchObject({ code: 0, stderr: "" });
  expect(good.stdout).not.toContain("WARNING");
  expect(good.stdout.match(/\.Passed$/gm)).toHaveLength(hooks.length);
  writeFiles(place.folder, { "docs/bad.REST": "", "docs/bad.md": "---\na: [\n---\n" });
  git(place.folder, "add", "-A");
  const bad = await run();
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain("docs/bad.md:3");
});
