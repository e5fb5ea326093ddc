import type { Command, Option } from "commander";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { describeProgram } from "../../src/cli/program.ts";
import { variableOf } from "../../src/cli/environment.ts";
import { isRepeatable } from "../../src/cli/options.ts";
import { cleanEnvironment, createTestContext } from "../support.ts";

// Every flag of every command, from the program itself: a new one is tested without being named here.
// Only a flag that takes any text must be added to the list below, and so be thought about.

interface Case {
  path: string[];
  option: Option;
  /** The value is checked where the flag is read, not by the command later. */
  checked: boolean;
}

/** Flags that take any text which is not empty; what it means is for the command or the service to say. */
const anyText = new Set(
  `--profile --config --base-url --ca-file --proxy --fields --filter --jq --root --source --access-type
  --name --sort --include --exclude --id-prefix --link --metadata --connector --state --since --reader --explain
  --gitlab-report --id --report --out --session --model --provider --model-version --file --file-id
  --source-type --document-set --filter-tag --payload --show --save --record --replay --batch --resume
  --client-cert --client-key --bundle --method --raw-field --field --input --header --host --data --fault --llm-url --llm-model
  --llm-system --play --tag --map --baseline --fail-on`.split(/\s+/),
);

const program = describeProgram();

function commandsBelow(command: Command, path: string[] = []): [string[], Command][] {
  const below = command.commands.flatMap((each) => commandsBelow(each, [...path, each.name()]));
  return [[path, command], ...below];
}

const commands = commandsBelow(program);
const hasChoices = (option: Option): boolean =>
  option.parseArg !== undefined && "choices" in option.parseArg;
const globals = new Set(program.options.map((option) => option.long));
// Each command has its own copies of the global flags, made in one place: three stand for all.
const withGlobals = new Set(["", "connectors list", "ingest"]);
const cases = commands.flatMap(([path, command]): Case[] =>
  command.options
    .filter((option) => option.long !== "--version")
    .filter((option) => withGlobals.has(path.join(" ")) || !globals.has(option.long))
    .map((option) => {
      const checked = hasChoices(option) || !anyText.has(option.long ?? "");
      return { path, option, checked };
    }),
);
const withValue = cases.filter(({ option }) => option.required);
// Of the whole file, not of one test.
const home = mkdtempSync(join(tmpdir(), "knowctl-test-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Told {
  code: number;
  out: string;
  err: string;
}

async function run(args: readonly string[], extra: Record<string, string> = {}): Promise<Told> {
  const context = createTestContext({ cwd: home, env: cleanEnvironment(home, extra) });
  return { code: await main(args, context), out: context.stdoutText(), err: context.stderrText() };
}

/** Exit 2, nothing on stdout, one message that names `what`, and a remedy. */
function expectRefusal(told: Told, what: string, args: readonly string[]): void {
  const shown = JSON.stringify(args);
  expect({ code: told.code, out: told.out }, `${shown} ${told.err}`).toEqual({ code: 2, out: "" });
  const lines = told.err.trimEnd().split("\n");
  expect(
    lines.filter((line) => line.startsWith("error: ")),
    shown,
  ).toHaveLength(1);
  expect(lines[0], shown).toContain(what);
  expect(
    lines.slice(1).some((line) => line.startsWith("  → ")),
    shown + told.err,
  ).toBe(true);
}

const nameOf = (path: readonly string[]): string => path.join(" ") || "(program)";
const byCommand = commands.map(([path]) => [nameOf(path), path] as const);
const ofCommand = (all: readonly Case[], path: readonly string[]): Case[] =>
  all.filter((each) => nameOf(each.path) === nameOf(path));

describe.each(byCommand)("%s", (_name, path) => {
  it("suggests the nearest for every mistyped flag", async () => {
    for (const { option } of ofCommand(cases, path)) {
      const long = option.long ?? "";
      // Known only to be refused; a flag of one letter is near to every other.
      if (option.hidden || long.length === 3) continue;
      const mistyped = long + long.at(-1);
      const args = [...path, mistyped];
      const told = await run(args);
      expectRefusal(told, mistyped, args);
      expect(told.err, JSON.stringify(args)).toMatch(/Did you mean (?:one of )?--/);
    }
  });

  it("refuses a flag without its value, another flag for it, and an empty one", async () => {
    for (const { option } of ofCommand(withValue, path)) {
      const long = option.long ?? "";
      for (const rest of [[long], [long, "--quiet"]]) {
        expectRefusal(await run([...path, ...rest]), long, [...path, ...rest]);
      }
      if (long === "--id-prefix") continue;
      for (const empty of ["", "  "]) {
        const args = [...path, long, empty];
        expectRefusal(await run(args), long, args);
      }
    }
  });

  it("refuses a second value for a flag that takes one", async () => {
    for (const { option } of ofCommand(withValue, path)) {
      if (isRepeatable(option)) continue;
      const long = option.long ?? "";
      const value = sampleOf(option);
      const args = [...path, long, value, `${long}=${value}`];
      const told = await run(args);
      expectRefusal(told, `${long} is specified twice`, args);
    }
  });

  it("refuses values of another type and out of range", async () => {
    for (const { option, checked } of ofCommand(withValue, path)) {
      if (!checked) continue;
      for (const value of [
        "\u0001nonsense",
        "-1e99",
        "1e99",
        "99999999999999999999",
        "0x10",
        "NaN",
      ]) {
        const args = [...path, `${option.long}=${value}`];
        const told = await run(args);
        const what = `refuse it in parseArg of the option, or add ${option.long} to anyText above`;
        expect(told.err, `${JSON.stringify(args)}: ${what}`).toContain(option.long);
        expectRefusal(told, option.long ?? "", args);
      }
    }
  });

  it("names the variable that holds such a value, and takes an empty one for none", async () => {
    for (const { option, checked } of ofCommand(cases, path)) {
      const variable = variableOf(option);
      if (variable === undefined || (option.required && !checked)) continue;
      const leaf = commands.find(([each]) => nameOf(each) === nameOf(path))?.[1];
      if (!leaf || leaf.registeredArguments.length > 0 || leaf.commands.length > 0) continue;
      // What would run for ever, or ask: not for a variable to find out.
      if (["sandbox", "login", "chat", "config init"].includes(nameOf(path))) continue;
      const told = await run(path, { [variable]: "\u0001nonsense" });
      expectRefusal(told, variable, [variable, ...path]);
      for (const empty of ["", " "]) {
        const { err } = await run(path, {
          [variable]: empty,
          KNOWCTL_BASE_URL: "http://127.0.0.1:9",
        });
        expect(err, `${variable} ${nameOf(path)}`).not.toContain(variable);
      }
    }
  });
});

/** A value that a checked flag takes. */
function sampleOf(option: Option): string {
  const parse = option.parseArg;
  const words = hasChoices(option) ? (parse as unknown as { choices: string[] }).choices : [];
  const samples = [
    ...words,
    "7",
    "0.5",
    "400",
    "1/8",
    "64MiB",
    "10%",
    "http://a.example/",
    "1d",
    "word",
  ];
  const found = samples.find((value) => {
    try {
      parse?.(value, undefined);
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`no sample for ${option.flags}`);
  return found;
}

describe("a flag", () => {
  it("before and behind the subcommand counts as given twice; lists of both are united", async () => {
    const args = ["--profile", "a", "connectors", "list", "--profile", "b"];
    expectRefusal(await run(args), "--profile is specified twice", args);
    const twice = ["--json", "connectors", "list", "--json", "--json"];
    expect((await run(twice)).code).toBe(3);
    const filters = ["--filter", "a=1", "connectors", "list", "--filter", "nonsense"];
    expectRefusal(await run(filters), "--filter", filters);
    const other = ["--filter", "nonsense", "connectors", "list", "--filter", "a=1"];
    expectRefusal(await run(other), "--filter", other);
  });

  it("may have the name of another as its value when that is said with =", async () => {
    const { code, err } = await run(["connectors", "list", "--name=--json"]);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining("no service") });
  });
});
