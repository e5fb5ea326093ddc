import type { Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { describeProgram } from "../../src/program.ts";
import { collectOptions, variableOf } from "../../src/surface/environment.ts";

const program = describeProgram();

function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)];
}

interface Variable {
  name: string;
  path: string;
  command: Command;
  option: Option;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

const variables = commandsBelow(program).flatMap((command): Variable[] =>
  command.options.flatMap((option) => {
    const name = variableOf(option);
    return name === undefined ? [] : [{ name, path: pathOf(command), command, option }];
  }),
);

/** A value that the option takes, as text. */
function sampleFor(option: Option): string {
  if (option.isBoolean() || option.negate) return "true";
  const parse = option.parseArg;
  if (!parse) return "word";
  const samples = [
    "7",
    "0.5",
    "4000",
    "ndjson",
    "api-key",
    "a=b",
    "openai/gpt",
    "1d",
    "none",
    "github",
    "1/8",
  ];
  const more = [
    "onyx",
    "markdown",
    "headings",
    "mtime",
    "codeowners",
    "upload",
    "failed",
    "excluded",
    "public",
    "keyword",
    "exists",
    "hidden",
    "rewrite",
    "http://a.example",
  ];
  const found = [...samples, ...more].find((sample) => {
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

describe("every option has its variable", () => {
  it.each(variables.map((each) => [`${each.path}: ${each.name}`, each] as const))(
    "%s",
    (_title, { name, command, option }) => {
      const sample = sampleFor(option);
      const { options, sources } = collectOptions(command, { [name]: sample });
      const member = option.attributeName();
      expect(sources).toEqual({ [member]: "env" });
      const given = option.negate
        ? false
        : option.isBoolean()
          ? true
          : option.parseArg
            ? option.parseArg(sample, undefined)
            : sample;
      expect(options).toEqual({ [member]: given });
      expect(collectOptions(command, { [name]: "" }).options).toEqual({});
    },
  );

  it("and no variable is a switch for one command and a value for another", () => {
    const kinds = new Map<string, Set<string>>();
    for (const { name, option } of variables) {
      const kind = option.isBoolean() || option.negate ? "switch" : "value";
      kinds.set(name, (kinds.get(name) ?? new Set()).add(kind));
    }
    expect([...kinds].filter(([, all]) => all.size > 1).map(([name]) => name)).toEqual([]);
  });
});
