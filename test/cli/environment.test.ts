import type { Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { describeProgram } from "../../src/cli/program.ts";
import { collectOptions, variableOf, unknownVariables } from "../../src/cli/environment.ts";

const program = describeProgram();

function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)];
}

const commands = commandsBelow(program);

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** The global flags as the specification names them. */
const ofEveryCommand =
  "profile config base-url dialect timeout ca-file client-cert client-key proxy output json fields filter jq quiet verbose debug no-color root no-input"
    .split(" ")
    .map(nameOf);

const ofSomeCommands = "cc-pair-id connector concurrency rate state shared-state state-project"
  .split(" ")
  .map(nameOf);

/** What a flag's variable is called, or was. */
function nameOf(flag: string): string {
  return `KNOWCTL_${flag.replace(/^--/, "").replaceAll("-", "_").toUpperCase()}`;
}

/** A value that the option takes, as text. */
function sampleFor(option: Option): string {
  if (option.isBoolean() || option.negate) return "true";
  const parse = option.parseArg;
  if (!parse) return "word";
  const found = ["7", "ndjson", "a=b", "onyx", "word"].find((sample) => {
    try {
      parse(sample, undefined);
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`no sample for ${option.flags}`);
  return found;
}

const others = new Map(
  commands
    .flatMap(({ options }) => options)
    .filter(({ long }) => long && !["--help", "--version"].includes(long))
    .map((option) => [nameOf(option.long!), option] as const)
    .filter(([name]) => !ofEveryCommand.includes(name) && !ofSomeCommands.includes(name)),
);

describe.each(commands.map((command) => [pathOf(command), command] as const))(
  "%s",
  (_path, command) => {
    it("has the variables of the global flags, of the few named flags, and no other", () => {
      const flags = command.options.map(({ long }) => nameOf(long ?? ""));
      const found = command.options.flatMap((option) => variableOf(option) ?? []);
      const own = ofSomeCommands.filter((name) => flags.includes(name));
      expect(found.toSorted()).toEqual([...ofEveryCommand, ...own].toSorted());
    });

    it("takes the value of each as of the flag, and an empty one for none", () => {
      for (const option of command.options) {
        const name = variableOf(option);
        if (name === undefined) continue;
        const sample = sampleFor(option);
        const { options, sources } = collectOptions(command, { [name]: sample });
        const member = option.attributeName();
        const parsed = option.parseArg ? option.parseArg(sample, undefined) : sample;
        const given = option.isBoolean() || option.negate ? !option.negate : parsed;
        expect({ options, sources }, name).toEqual({
          options: { [member]: given },
          sources: { [member]: "env" },
        });
        expect(collectOptions(command, { [name]: "" }).options, name).toEqual({});
      }
    });

    it("is changed by the name of no other flag, each of which is one warning", () => {
      const env = Object.fromEntries([...others.keys()].map((name) => [name, "1"]));
      expect(others.size).toBeGreaterThan(100);
      expect(collectOptions(command, env)).toEqual({ options: {}, sources: {} });
      const warnings = unknownVariables(env, command, () => program);
      expect([...warnings.keys()].toSorted()).toEqual([...others.keys()].toSorted());
      for (const [name, option] of others) {
        expect(warnings.get(name)).toContain(`${option.long} counts only as a flag`);
      }
    });
  },
);
