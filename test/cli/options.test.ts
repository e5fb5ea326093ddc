import { describe, expect, it } from "vitest";
import { filled, perSecond, shard, size } from "../../src/cli/options.ts";
import { Command, type Option } from "commander";
import { formats } from "../../src/documents/formats/formats.ts";
import { addMappingOptions } from "../../src/commands/ingest/flags-shared.ts";
import { createProgram, describeProgram } from "../../src/cli/program.ts";
import { collectOptions, unknownVariables, variableOf } from "../../src/cli/environment.ts";

describe("--shard", () => {
  it.each([
    ["1/1", 1, 1],
    ["2/8", 2, 8],
    ["10000/10000", 10_000, 10_000],
    ["03/08", 3, 8],
  ])("%s", (text, index, count) => expect(shard(text)).toEqual({ index, count }));

  it.each([
    ["0/3", /from 1\/3 to 3\/3; the first is 1, not 0/],
    ["4/3", /from 1\/3 to 3\/3/],
    ["1/0", /N from 1 to 10000/],
    ["1/10001", /N from 1 to 10000/],
    ["", /I\/N/],
    ["1", /I\/N/],
    ["1/", /I\/N/],
    ["/2", /I\/N/],
    ["-1/2", /I\/N/],
    ["1/2/3", /I\/N/],
    [" 1/2", /I\/N/],
    ["1.0/2", /I\/N/],
    ["1/9999999999999999999999", /I\/N/],
  ])("%s is refused", (text, message) => expect(() => shard(text)).toThrow(message));
});

describe("--rate", () => {
  const parse = perSecond(0.001, 1000);
  it.each([
    ["50", 50],
    ["50/s", 50],
    ["0.5/s", 0.5],
  ])("%s", (text, rate) => expect(parse(text)).toBe(rate));
  it.each(["50/m", "/s", "50/s/s", "0/s", "1001/s"])("%s is refused", (text) =>
    expect(() => parse(text)).toThrow(/from 0.001 to 1000/),
  );
});

describe("text that must say something", () => {
  it("is passed on", () => expect(filled(" a ")).toBe(" a "));
  it.each(["", " ", "\t"])("%j is refused", (text) =>
    expect(() => filled(text)).toThrow(/Expected a value/),
  );
});

describe("a size", () => {
  const parse = size(1, 2 ** 30);
  it.each([
    ["1", 1],
    ["1024b", 1024],
    ["512k", 512 * 1024],
    ["64MiB", 64 * 2 ** 20],
    ["64 MB", 64 * 2 ** 20],
    ["1.5m", 1.5 * 2 ** 20],
    ["1G", 2 ** 30],
  ])("%s", (text, bytes) => expect(parse(text)).toBe(bytes));

  it.each(["", "0", "-1", "1e3", "x", "64 mb s", "2g", "1.5.5", "0x10", "MiB", "Infinity"])(
    "%s is refused",
    (text) => expect(() => parse(text)).toThrow(/Expected a size from 1 bytes to 1024MiB/),
  );
});

describe("ingest options", () => {
  it.each(Object.keys(formats))(
    "--format takes %s: a name in commands/ingest/flags-shared.ts",
    (name) => {
      const command = addMappingOptions(new Command("ingest").exitOverride());
      expect(command.parse(["--format", name], { from: "user" }).opts()).toEqual({
        format: name,
        ignore: true,
      });
    },
  );
});

describe("same flags", () => {
  interface Use {
    command: string;
    option: Option;
  }

  function usesIn(command: Command, path: string): Use[] {
    const own = command.options.map((option) => ({ command: path, option }));
    const below = command.commands.flatMap((each) => usesIn(each, `${path} ${each.name()}`.trim()));
    return [...own, ...below];
  }

  const program = createProgram(() => async () => {}, { write: () => {}, width: 80, kind: "full" });
  const flags = new Map<string, Use[]>();
  for (const use of usesIn(program, "")) {
    const name = use.option.long!;
    flags.set(name, [...(flags.get(name) ?? []), use]);
  }

  /** Flags with two meanings. */
  const twoMeanings: Record<string, string> = {
    "--since": "a commit for ingest, a time for chat",
    "--force": "send everything for ingest, replace the recording for chat",
    "--include": "a pattern of files; for api, status and headers, as in gh",
    "--record":
      "a file with the stream of one answer for chat, a folder with all responses for eval",
    "--replay": "as --record",
    "--baseline": "known findings for lint, the report of an earlier run for eval",
    "--print-config": "the project file of an upload, the entry of a client for mcp",
    "--file": "a file to upload for chat, the file to write for sessions export",
    "--watch": "the folder for ingest; for connectors status the service, every so many seconds",
  };

  /** Flags with one meaning that each command applies to its own thing, and so describes in its words. */
  const appliedToOwnThing: Record<string, string> = {
    "--source": "of documents to send; of connectors to show",
    "--access-type": "of the pair to create; of pairs to show",
    "--group": "of the pair to create; of pairs to show",
    "--cc-pair-id": "target of an upload; of records to show",
    "--dry-run": "does nothing of what the command would do",
    "--concurrency": "documents, or questions of a batch",
    "--via": "ways to search; searches in place of look-ups",
    "--allow-tokens": "for one search; for one question a document",
    "--gitlab-report": "failures of an upload; findings of lint",
    "--report": "of the run; of several runs together",
    "--limit": "rows to show; cases to draft",
    "--drafts": "documents to send; cases to ask",
    "--all": "records; branches of a conversation",
    "--project": "of a session; of a file",
    "--exit-code": "12 if there is a difference; of an upload only with --dry-run",
    "--local": "the file, or the index, of this machine or project",
  };

  const placeholderOf = ({ option }: Use): string =>
    option.flags.replace(/^(?:-\w, )?--[\w-]+ ?/, "");

  /** What the flag takes: nothing, one of these words, or anything. */
  function kindOf({ option }: Use): string {
    const { required, optional, variadic, negate, argChoices } = option;
    return JSON.stringify({ required, optional, variadic, negate, argChoices });
  }

  const shared = [...flags].filter(
    ([name, uses]) => uses.length > 1 && twoMeanings[name] === undefined,
  );

  const distinct = (uses: Use[], read: (use: Use) => string): Record<string, string[]> => {
    const found: Record<string, string[]> = {};
    for (const use of uses) (found[read(use)] ??= []).push(use.command);
    return found;
  };

  describe("a flag means the same everywhere", () => {
    it.each(shared)("%s takes the same value", (_name, uses) => {
      for (const read of [placeholderOf, kindOf, ({ option }: Use) => option.short ?? ""]) {
        const found = distinct(uses, read);
        expect(Object.keys(found), JSON.stringify(found)).toHaveLength(1);
      }
    });

    it.each(shared)("%s has one description", (name, uses) => {
      if (appliedToOwnThing[name] !== undefined) return;
      const found = distinct(uses, ({ option }) => option.description);
      expect(Object.keys(found), JSON.stringify(found)).toHaveLength(1);
    });

    it("has no exception that is not needed", () => {
      for (const name of Object.keys(twoMeanings)) expect(flags.has(name), name).toBe(true);
      for (const name of Object.keys(appliedToOwnThing)) {
        const found = distinct(flags.get(name) ?? [], ({ option }) => option.description);
        expect(Object.keys(found).length, name).toBeGreaterThan(1);
      }
    });
  });
});

describe("environment", () => {
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

  const ofOthers = Object.fromEntries([...others.keys()].map((name) => [name, "1"]));

  it("warns once of the name of each other flag", () => {
    expect(others.size).toBeGreaterThan(100);
    const warnings = unknownVariables(ofOthers, () => program);
    expect([...warnings.keys()].toSorted()).toEqual([...others.keys()].toSorted());
    for (const [name, option] of others) {
      expect(warnings.get(name)).toContain(`${option.long} counts only as a flag`);
    }
  });

  it("every command has the variables of the global flags, of the few named flags, and no other", () => {
    for (const command of commands) {
      const flags = command.options.map(({ long }) => nameOf(long ?? ""));
      const found = command.options.flatMap((option) => variableOf(option) ?? []);
      const own = ofSomeCommands.filter((name) => flags.includes(name));
      expect(found.toSorted(), pathOf(command)).toEqual([...ofEveryCommand, ...own].toSorted());
    }
  });

  it("the value of each is taken as of the flag, and an empty one for none", () => {
    for (const command of commands) {
      for (const option of command.options) {
        const name = variableOf(option);
        if (name === undefined) continue;
        const sample = sampleFor(option);
        const { options, sources } = collectOptions(command, { [name]: sample });
        const member = option.attributeName();
        const parsed = option.parseArg ? option.parseArg(sample, undefined) : sample;
        const given = option.isBoolean() || option.negate ? !option.negate : parsed;
        expect({ options, sources }, `${pathOf(command)} ${name}`).toEqual({
          options: { [member]: given },
          sources: { [member]: "env" },
        });
        const empty = collectOptions(command, { [name]: "" });
        expect(empty.options, `${pathOf(command)} ${name}`).toEqual({});
      }
    }
  });

  it("no command is changed by the name of another flag", () => {
    for (const command of commands) {
      const found = collectOptions(command, ofOthers);
      expect(found, pathOf(command)).toEqual({ options: {}, sources: {} });
    }
  });
});
