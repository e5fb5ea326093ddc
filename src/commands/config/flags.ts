import type { Command } from "commander";
import { choice } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";
import type { RunLine } from "../try/try.ts";
import type { InitOptions } from "./init.ts";

const show = () => import("./show.ts");
const change = () => import("./change.ts");
const check = () => import("./check.ts");

// Not --project: its variable would be the variable of `chat --project ID`.
const localFlag = ["--local", "change the project file instead of the user file"] as const;

function addInit(config: Command, run: Run, runLine: RunLine): void {
  config
    .command("init")
    .description(
      "Connect to a service: asks for address and key, tests them, saves a profile.\n" +
        "Asks for the id prefix of the project here, and writes it to the project file; " +
        '--id-prefix "" is none.\n' +
        "Without a terminal, set KNOWCTL_API_KEY, or use --with-token to read the key from stdin.",
    )
    .option("--with-token", "read the key from stdin")
    .option("--no-check", "save without testing the connection")
    .option("--id-prefix <text>", "prefix for ids that are made of paths")
    .configureHelp({
      examples: [
        ["knowctl config init", "asks for address, key and name of the profile"],
        [
          "KNOWCTL_API_KEY=sandbox knowctl config init --profile sandbox --base-url http://127.0.0.1:8787",
          "without questions, for a running `knowctl sandbox`",
        ],
        [
          "knowctl config init --base-url https://assistant.example.com --with-token < key.txt",
          "in a script",
        ],
      ],
    })
    .action(
      run(async () => {
        const { configInit } = await import("./init.ts");
        return (context, _args, options: InitOptions) => configInit(context, options, runLine);
      }),
    );
}

function addShow(config: Command, run: Run): void {
  config
    .command("list")
    .description("List the profiles of every configuration file; secrets are masked.")
    .configureHelp({ examples: [["knowctl config list", "the profile in effect has a *"]] })
    .action(run(async () => (await show()).configList));
  config
    .command("show")
    .description("Show the values in effect; secrets are masked.")
    .option("--origin", "show where each value came from, and what it overrides")
    .configureHelp({
      examples: [
        ["knowctl config show", "the profile in effect, merged"],
        ["knowctl config show --origin", "flag, variable, file:line or built-in for each"],
      ],
    })
    .action(run(async () => (await show()).configShow));
  config
    .command("get")
    .description("Print one value in effect.")
    .argument("<key>", "for example baseUrl, ingest.include or profiles.NAME.baseUrl")
    .configureHelp({ examples: [["knowctl config get dialect", "of the profile in effect"]] })
    .action(run(async () => (await show()).configGet));
  config
    .command("path")
    .description("Show the paths of configuration and state.")
    .configureHelp({ examples: [["knowctl config path", "user file, project file, state"]] })
    .action(run(async () => (await show()).configPath));
  config
    .command("schema")
    .description("Print the JSON Schema of a configuration file.")
    .configureHelp({
      examples: [["knowctl config schema > cliconfig.schema.json", "for an editor"]],
    })
    .action(run(async () => (await show()).configSchema));
}

function addChange(config: Command, run: Run): void {
  config
    .command("set")
    .description("Set one value in the user file. Keys are stored with `knowctl login`.")
    .argument("<key>", "for example baseUrl (of the profile in effect) or ingest.include")
    .argument("<value>", "a word, or JSON")
    .option(...localFlag)
    .configureHelp({
      examples: [
        ["knowctl config set ingest.sections headings", "for every profile"],
        ["knowctl config set ingest.include '[\"docs/**/*.md\"]' --local", "in .cliconfig.json"],
        [
          'knowctl config set profiles.ci.apiKey \'{"env": "CI_KEY"}\'',
          "name the variable that holds the key",
        ],
      ],
    })
    .action(run(async () => (await change()).configSet));
  config
    .command("unset")
    .description("Remove one value from the user file.")
    .argument("<key>", "same keys as config set")
    .option(...localFlag)
    .configureHelp({
      examples: [["knowctl config unset ingest.sections", "return to the default"]],
    })
    .action(run(async () => (await change()).configUnset));
  config
    .command("use")
    .description("Make a profile the default.")
    .argument("<profile>", "its name")
    .option(...localFlag)
    .configureHelp({ examples: [["knowctl config use sandbox", "for every command from now on"]] })
    .action(run(async () => (await change()).configUse));
}

function addCheck(config: Command, run: Run): void {
  config
    .command("validate")
    .description("Check the configuration files; report each problem with file, line and column.")
    .argument("[file]", "check only this file")
    .configureHelp({ examples: [["knowctl config validate", "user file and project file"]] })
    .action(run(async () => (await check()).configValidate));
  config
    .command("trust")
    .description(
      "Trust the project file, so that it may name addresses and keys.\n" +
        "The command shows them. When one of them changes, you must trust the file again.",
    )
    .argument("[file]", "trust this file (default: the nearest project file)")
    .configureHelp({ examples: [["knowctl config trust", "after you have read the file"]] })
    .action(run(async () => (await check()).configTrust));
}

/** `config …`, `login` and `logout`. `runLine` runs a whole command line, as if it were typed. */
export function addConfig(program: Command, run: Run, runLine: RunLine): void {
  const config = program.command("config").description("Set up and inspect profiles and settings.");
  addInit(config, run, runLine);
  addShow(config, run);
  addChange(config, run);
  addCheck(config, run);
  config.configureHelp({ essentials: ["init", "list", "show", "set", "use", "trust"] });
  program
    .command("login")
    .description(
      "Store a key in the profile.\nThe key comes from a hidden prompt or from stdin, never from an argument.",
    )
    .option("--with-token", "read the key from stdin")
    .option(
      "--kind <kind>",
      "api-key (default), or access-token: a separate key for chat and administration",
      choice("api-key", "access-token"),
    )
    .option("--no-check", "save without testing the connection")
    .configureHelp({
      examples: [
        ["knowctl login", "type or paste the key"],
        ["knowctl login --profile production --with-token < key.txt", "in a script"],
      ],
    })
    .action(run(async () => (await import("./login.ts")).login));
  program
    .command("logout")
    .description("Remove the stored keys of the profile.")
    .configureHelp({
      examples: [["knowctl logout --profile production", "only the keys of this profile"]],
    })
    .action(run(async () => (await import("./login.ts")).logout));
}
