import { Command, InvalidArgumentError, type Option } from "commander";
import { afterAll, describe, expect, it } from "vitest";
import { main, runHere } from "../main.ts";
import { commandSummaries, describeProgram } from "../../src/cli/program.ts";
import { addMappingOptions } from "../../src/commands/ingest/flags-shared.ts";
import { otherWords, shapingFlags } from "../../src/cli/other-words.ts";
import { cleanEnvironment, createTestContext, projectFolder, temporaryFolder } from "../support.ts";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startTestService, writeFiles } from "../service.ts";
import { tmpdir } from "node:os";
import { variableOf } from "../../src/cli/environment.ts";
import { isRepeatable } from "../../src/cli/options.ts";

describe("other words", () => {
  const words = "upload push sync ask ls plan diff drift orphans whoami version";

  it.each(words.split(" "))("%s: names the command that is meant", async (word) => {
    const context = createTestContext();
    expect(await main([word, "docs"], context)).toBe(2);
    expect(context.stderrText()).toContain(`unknown command '${word}'`);
    expect(context.stderrText()).toContain(`use \`knowctl ${otherWords[word]}\``);
  });

  it("stands for commands that exist, by words that are none", () => {
    const commands = commandSummaries().map(([name]) => name);
    const firstWords = new Set(commands.map((name) => name.split(" ")[0]));
    for (const [word, command] of Object.entries(otherWords)) {
      expect([...commands, "--version"]).toContain(command.replace(/ --.*/, ""));
      expect(firstWords).not.toContain(word);
    }
  });

  it.each([
    ["validate", "use `knowctl config validate`"],
    ["show", "use `knowctl sessions show` or `knowctl config show`"],
    ["update", "use `knowctl ingest`"],
    ["delete", "use `knowctl prune`"],
    ["uplaod", "use `knowctl ingest`"],
  ])("%s: names the subcommand that is meant", async (word, hint) => {
    const context = createTestContext();
    expect(await main([word], context)).toBe(2);
    expect(context.stderrText()).toBe(
      `error: unknown command '${word}'\n  → ${hint}\n  → see \`knowctl --help\`\n`,
    );
  });

  it.each([
    ["ingest docs --pair 2", "use --cc-pair-id"],
    ["ingest docs --ccpair=2", "use --cc-pair-id"],
    ["connectors list --url http://127.0.0.1:8787", "use --base-url"],
    ["ingest docs --workers 4", "use --concurrency"],
    ["doctor --silent", "use --quiet"],
    ["chat --token SECRET-VALUE hello", "no flag takes a key: set KNOWCTL_API_KEY"],
    ["connectors list --api-key=SECRET-VALUE", "or store it: knowctl login"],
  ])("%s: names what is meant", async (line, hint) => {
    const context = createTestContext();
    expect(await main(line.split(" "), context)).toBe(2);
    expect(context.stderrText()).toMatch(
      /^error: unknown option '--[a-z-]+'\n {2}→ (use --|no flag)/,
    );
    expect(context.stderrText()).toContain(hint);
    expect(context.stderrText()).not.toContain("SECRET-VALUE");
  });

  it.each(["--watch", "--watch=5", "--watch 5"])(
    "`connectors list %s` names the command",
    async (flag) => {
      const context = createTestContext();
      expect(await main(["connectors", "list", ...flag.split(" ")], context)).toBe(2);
      expect(context.stderrText()).toBe(
        "error: unknown option '--watch'\n" +
          "  → use `knowctl connectors status --watch SECONDS`\n" +
          "  → see `knowctl connectors list --help`\n",
      );
    },
  );

  describe("flags of other commands", () => {
    it("knows each flag that shapes documents", () => {
      const names = addMappingOptions(new Command()).options.map(({ long }) => long);
      // A permission, which retry takes as well.
      expect(shapingFlags).toEqual(new Set(names.filter((name) => name !== "--drop-access")));
    });

    it.each([
      ["ingest --prune docs", "use `knowctl prune`"],
      ["ingest --tombstone docs", "use `knowctl prune --tombstone`"],
      ["ingest retry --missing", "use `knowctl retry --missing`"],
      ["prune --remote", "use `knowctl prune --extra`"],
      ["status --sections headings", "status uses the flags of the upload"],
      ["prune docs --id-prefix kb/", "knowctl ingest PATH --id-prefix"],
      ["retry --tag a", "retry uses the flags of the upload"],
      ["verify docs --map id=sku", "verify uses the flags of the upload"],
    ])("%s: names what is meant", async (line, hint) => {
      const context = createTestContext();
      expect(await main(line.split(" "), context)).toBe(2);
      expect(context.stderrText()).toContain(hint);
    });
  });
});

describe("usage errors", () => {
  const cases: [string[], RegExp][] = [
    [["ingst"], /unknown command 'ingst'\n.*Did you mean ingest\?/],
    [["http://127.0.0.1:1"], /unknown command.*\n.*goes after a command: --base-url ADDRESS\n/],
    [["docs", "ingest"], /unknown command 'docs'\n.*the command comes first: knowctl ingest …\n/],
    [
      ["ingest", "docs", "-cc-pair-id", "2"],
      /unknown option.*\n.*use --cc-pair-id, with two dashes/,
    ],
    [
      ["ingest", "docs", "--cc-pair-id", "Handbook"],
      /whole number.*\n.*a name goes with --connector/,
    ],
    [["connectors", "find", "\u201cHandbook", "uploads\u201d"], /too many.*\n.*typographic quote/],
    [["chat", "--agent", "Helper", "hi"], /whole number.*\n.*knowctl agents list/],
    [["login", "my-key-123"], /too many.*\n.*a key is not an argument/],
    [["eval", "suite.yaml"], /unknown command.*\n.*knowctl eval retrieval suite\.yaml, or/],
    [
      ["connectors", "status", "--watch", "--json"],
      /missing\n.*write the value before it: --watch <seconds> --json\n/,
    ],
    [
      ["ingest", "docs", "--id-prefix", "--json"],
      /missing\n.*as the value, write --id-prefix=--json/,
    ],
    [
      ["--base-url", "connectors", "list"],
      /missing\n.*connectors is a command; write the value before it: --base-url <url> connectors\n/,
    ],
    [["--timeout", "ingest", "docs"], /missing\n.*ingest is a command; write the value before it/],
    [["doctor", "http://127.0.0.1:1"], /too many.*\n.*goes with a flag: --base-url ADDRESS\n/],
    [["ingest", "docs --id-prefix kb/"], /no such file.*\n.*its quotes hold a flag as well/],
    [["retry", "."], /it is a folder\n.*--report FILE\.json\n.*`knowctl retry` without a name/],
    [["completion", "fishh"], /^error: argument 'shell' is invalid\. Expected one of bash/],
    [["chat", "--tag", "a=b", "hi"], /unknown option.*\n.*use --filter-tag\n/],
    [["--profile", "lint"], /missing\n.*lint is a command/],
    [["ingest docs"], /unknown command.*\n.*without these quotes: knowctl ingest docs\n/],
    [["./docs"], /unknown command.*\n.*a path goes after a command: knowctl ingest \.\/docs\n/],
    [["ingest", ".", "\u2014cc-pair-id"], /no such file.*\n.*long dash: type two hyphens/],
    [["connectors", "lst"], /Did you mean list\?/],
    [["connectors", "list", "--jsn"], /unknown option '--jsn'\n.*Did you mean --json\?/],
    [["chat", "--force is what?"], /unknown option .*\n.*after --: chat -- "…"/],
    [["ingest", "docs", "--concurrency", "0"], /Expected a whole number from 1 to 256/],
    [["ingest", "docs", "--concurrency", "2.5"], /Expected a whole number/],
    [["ingest", "docs", "--sections", "some"], /Expected one of whole, headings/],
    [["ingest", "docs", "--cc-pair-id"], /argument missing/],
    [["ingest", "docs", "--exit-code"], /--exit-code needs --dry-run/],
    [["ingest", "docs", "--output", "csv"], /Expected one of text, table, json, ndjson/],
    [["ingest", ".", "--metadata", "novalue"], /expected key=value/],
    [["connectors", "list", "--filter", "nothing"], /--filter/],
    [["connectors", "get"], /missing required argument[^]*write: knowctl connectors get <[\w-]+>/],
    [["config", "set", "a=b"], /write: knowctl config set <key> <value>/],
    [["connectors", "list", "extra"], /too many arguments/],
    [["--timeout", "soon", "connectors", "list"], /Expected a duration/],
    [["--timeout", "0", "connectors", "list"], /at least 0.001 seconds/],
    [["connectors", "status", "--watch", "0"], /at least 1 second,/],
    [["ingest", "docs", "--watch", "--every", "0"], /at least 1 second,/],
    [["ingest", "https://x.example/docs"], /no such file[^]*get the pages first/],
    [["ingest", ".", "--cc-pair-id", "https://x.example/admin/pairs/12"], /--cc-pair-id 12$/m],
  ];

  it("no value of a flag is an error because a command has this name", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { "lint/a.md": "# A\n\nText.\n" });
    const result = await runHere(["--root", "lint", "ingest", "lint", "--dry-run"], {
      cwd: folder,
      env,
    });
    expect(result, result.stderr).toMatchObject({ code: 0 });
  });

  it.each(cases)("%j is exit 2 with a remedy", async (args, message) => {
    const home = temporaryFolder();
    const result = await runHere(args, { cwd: home, env: cleanEnvironment(home) });
    expect(result.stderr).toMatch(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr.startsWith("error: ")).toBe(true);
  });

  it("never repeats the value of an unknown flag", async () => {
    const home = temporaryFolder();
    const result = await runHere(["chat", "--tokn=SECRET-VALUE", "x"], {
      cwd: home,
      env: cleanEnvironment(home),
    });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("--tokn");
    expect(result.stderr).not.toContain("SECRET-VALUE");
  });

  it("name both variables that set the target: neither wins", async () => {
    const home = temporaryFolder();
    const target = { KNOWCTL_CC_PAIR_ID: "2", KNOWCTL_CONNECTOR: "Mine" };
    const env = cleanEnvironment(home, target);
    writeFiles(home, { "docs/a.md": "# A\n" });
    const result = await runHere(["ingest", "docs", "--dry-run"], { cwd: home, env });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(
      "KNOWCTL_CC_PAIR_ID and KNOWCTL_CONNECTOR name the target twice",
    );
  });

  it("name the environment variable that holds a wrong value", async () => {
    const home = temporaryFolder();
    const result = await runHere(["ingest", "docs"], {
      cwd: home,
      env: cleanEnvironment(home, { KNOWCTL_CONCURRENCY: "many" }),
    });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(
      /KNOWCTL_CONCURRENCY: 'many' is invalid. Expected a whole number from 1 to 256/,
    );
  });
});

describe("environment variables", () => {
  it("stand in for flags, and a flag wins", async () => {
    const service = await startTestService({
      files: { "docs/a.md": "A\n", "docs/b.md": "B\n" },
    });
    const env = {
      ...service.env,
      KNOWCTL_CC_PAIR_ID: "2",
      KNOWCTL_QUIET: "yes",
      KNOWCTL_OUTPUT: "json",
      KNOWCTL_STATE: "",
    };
    const cwd = service.folder;
    const result = await runHere(["ingest", "docs"], { cwd, env });
    expect(JSON.parse(result.stdout)).toMatchObject({ counts: { created: 2 } });
    const other = { ...env, KNOWCTL_CC_PAIR_ID: "3" };
    const flagged = await runHere(["ingest", "docs", "--cc-pair-id", "2"], { cwd, env: other });
    expect(JSON.parse(flagged.stdout)).toMatchObject({ counts: { unchanged: 2 } });
  });

  it.each([
    ["ingest docs --no-state --connector Mine --dry-run", { KNOWCTL_CC_PAIR_ID: "2" }],
    ["ingest docs --no-state --cc-pair-id 2 --dry-run", { KNOWCTL_CONNECTOR: "Mine" }],
    ["ingest docs --no-state --cc-pair-id 2 --dry-run", { KNOWCTL_STATE: "kept" }],
    ["config set defaultProfile a --local", { KNOWCTL_CONFIG: "other.json" }],
    ["chat --replay answer.ndjson", { KNOWCTL_CONCURRENCY: "4" }],
  ])("never stand in the way of the flags of `%s`", async (line, variables) => {
    const folder = temporaryFolder();
    writeFiles(folder, {
      "docs/a.md": "# A\n",
      ".cliconfig.json": '{"profiles":{"a":{}}}',
      "other.json": "{}",
      "a.ndjson": "",
      "answer.ndjson": readFileSync(
        join(projectFolder, "test/fixtures/wire/answer.ndjson"),
        "utf8",
      ),
    });
    const at = (env: Record<string, string>) =>
      runHere(line.split(" "), { cwd: folder, env: cleanEnvironment(folder, env) });
    const plain = await at({});
    expect(await at(variables)).toMatchObject(plain);
    expect(plain.stderr).not.toContain("exclude each other");
  });
});

describe("echoes", () => {
  const value = "CANARY'\n(x) 'is invalid. é";

  async function run(args: readonly string[], env: Record<string, string> = {}) {
    const context = createTestContext();
    const code = await main(args, { ...context, env: cleanEnvironment(context.cwd, env) });
    return { code, text: context.stderrText() + context.stdoutText() };
  }

  describe("a command line that is refused", () => {
    it.each([
      [["api", `-t${value}`], "unknown option '-t'"],
      [["api", "-t=CANARY", "tool"], "unknown option '-t'"],
      [
        ["api", `--key=${value}`, "tool"],
        "option '--key <which>' argument is invalid. Expected one of api, access.",
      ],
      [
        ["api", "--key", value, "tool"],
        "option '--key <which>' argument is invalid. Expected one of api, access.",
      ],
      [["api", `--keys=${value}`, "tool"], "unknown option '--keys'"],
      [
        [`--dialect=${value}`, "tools", "list"],
        "argument is invalid. Expected one of standard, onyx.",
      ],
      [["chat", `-é${value}`], "unknown option ''"],
      [["ingest", "docs", `--cc-pair-id=${value}`], "Expected a whole number from 1 to"],
      [["report", "x", `-o${value}`], "argument is invalid. Expected one of"],
    ])("does not repeat a value that may be a key: %j", async (args, words) => {
      const { code, text } = await run(args);
      expect(code).toBe(2);
      expect(text).toContain(words);
      expect(text).not.toContain("CANARY");
    });

    it("has no key of the environment in it, wherever that stands", async () => {
      const key = "CANARY-key-of-the-environment";
      for (const name of ["KNOWCTL_API_KEY", "KNOWCTL_ACCESS_TOKEN"]) {
        const { code, text } = await run([key], { [name]: `${key}\n` });
        expect(code).toBe(2);
        expect(text).toContain("unknown command '***'");
        expect(text).not.toContain("CANARY");
      }
    });
  });
});

describe("bad input", () => {
  // Every flag of every command, from the program itself: a new one is tested without being named here.
  // Only a flag that takes any text must be added to the list below, and so be thought about.

  interface Case {
    path: string[];
    option: Option;
    /** The value is checked where the flag is read, not by the command later. */
    checked: boolean;
    /** No command before has a flag of the same words, or the command has no flag before it. */
    isFirst: boolean;
  }

  /** Flags that take any text which is not empty; what it means is for the command or the service to say. */
  const anyText = new Set(
    `--profile --config --base-url --ca-file --proxy --fields --filter --jq --root --source --access-type
  --name --sort --include --exclude --id-prefix --link --metadata --connector --state --since --reader --explain
  --gitlab-report --id --notify --report --out --session --model --provider --model-version --file --file-id
  --source-type --document-set --filter-tag --payload --show --save --record --replay --batch --resume
  --client-cert --client-key --bundle --method --raw-field --field --input --header --host --data --fault --llm-url --llm-model
  --llm-system --play --tag --map --baseline --fail-on --allow-ingest --shared-state --state-project --run --shared`.split(
      /\s+/,
    ),
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
  const known = new Set<string>();
  const cases = commands.flatMap(([path, command]): Case[] =>
    command.options
      .filter((option) => option.long !== "--version")
      .filter((option) => withGlobals.has(path.join(" ")) || !globals.has(option.long))
      .map((option, index) => {
        const checked = hasChoices(option) || !anyText.has(option.long ?? "");
        const words = `${option.flags} ${option.description}`;
        const isFirst = index === 0 || !known.has(words);
        known.add(words);
        return { path, option, checked, isFirst };
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
    return {
      code: await main(args, context),
      out: context.stdoutText(),
      err: context.stderrText(),
    };
  }

  /** Exit 2, nothing on stdout, one message that names `what`, and a remedy. */
  function expectRefusal(told: Told, what: string, args: readonly string[]): void {
    const shown = JSON.stringify(args);
    expect({ code: told.code, out: told.out }, `${shown} ${told.err}`).toEqual({
      code: 2,
      out: "",
    });
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

  /** The parser of the flag refuses the value, as it refuses others that are typed. */
  function expectUnreadable(option: Option, value: string): void {
    const parse = (): unknown => option.parseArg?.(value, undefined);
    expect(parse, `${option.flags} ${JSON.stringify(value)}`).toThrow(InvalidArgumentError);
  }

  const nameOf = (path: readonly string[]): string => path.join(" ") || "(program)";

  describe("every flag of every command", () => {
    it("suggests the nearest for every mistyped flag", async () => {
      for (const { path, option, isFirst } of cases) {
        const long = option.long ?? "";
        if (!isFirst) continue;
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
      for (const { path, option, isFirst } of withValue) {
        const long = option.long ?? "";
        if (long !== "--id-prefix") for (const value of ["", "  "]) expectUnreadable(option, value);
        if (!isFirst) continue;
        // commander itself finds that a value is missing: one flag of each command stands for all.
        const lines =
          withValue.find((each) => each.path === path)?.option === option
            ? [[long], [long, "--quiet"]]
            : [[long, "--quiet"]];
        if (long !== "--id-prefix") lines.push([long, ""]);
        for (const rest of lines) {
          const args = [...path, ...rest];
          expectRefusal(await run(args), long, args);
        }
      }
    });

    it("refuses a second value for a flag that takes one", async () => {
      for (const { path, option, isFirst } of withValue) {
        if (!isFirst || isRepeatable(option)) continue;
        const long = option.long ?? "";
        const value = sampleOf(option);
        const args = [...path, long, value, `${long}=${value}`];
        const told = await run(args);
        expectRefusal(told, `${long} is specified twice`, args);
      }
    });

    it("refuses values of another type and out of range", async () => {
      for (const { path, option, checked, isFirst } of withValue) {
        if (!checked) continue;
        // Its parser takes any word: lint itself knows the rules, of which none has an odd name.
        const isWord = option.long === "--rule";
        const others = ["\u0001nonsense", "-1e99", "1e99", "99999999999999999999", "0x10", "NaN"];
        if (!isWord) for (const value of others) expectUnreadable(option, value);
        if (!isFirst) continue;
        const args = [...path, `${option.long}=\u0001nonsense`];
        const told = await run(args);
        const what = `refuse it in parseArg of the option, or add ${option.long} to anyText above`;
        expect(told.err, `${JSON.stringify(args)}: ${what}`).toContain(option.long);
        expectRefusal(told, option.long ?? "", args);
      }
    });

    it("names the variable that holds such a value, and takes an empty one for none", async () => {
      for (const { path, option, checked } of cases) {
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
      // The value before it is the name of another subcommand.
      const named = ["--fields", "list", "connectors", "get", "2", "--json"];
      expect((await run(named)).code).toBe(3);
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
});
