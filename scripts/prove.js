// `npm run prove -- model`: plays random sequences of commands for as long as asked.
import { parseArgs } from "node:util";
import { ensureInstalled, runStep, runTool } from "./install.js";

const usage = `npm run prove -- model [--seconds N] [--sequences N] [--seed S] [--dialect standard|onyx] [--shrink SECONDS]

Plays N random sequences of commands in each dialect, or as many as fit into the seconds, against a
service on this machine. The first has the seed S, each other one the next number. Prints what was
violated as a script to replay by hand, with its seed; exits 1 then.`;

const numbers = {
  seconds: { type: "string", default: "600" },
  sequences: { type: "string", default: "1000000" },
  seed: { type: "string", default: "1" },
  shrink: { type: "string", default: "60" },
};

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { ...numbers, dialect: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  const { dialect, help } = values;
  const isRight =
    positionals.join() === "model" &&
    Object.keys(numbers).every((name) => /^\d+$/.test(values[name])) &&
    [undefined, "standard", "onyx"].includes(dialect);
  if (help || !isRight) {
    console.error(usage);
    process.exitCode = help ? 0 : 2;
    return undefined;
  }
  return values;
}

function environment({ seconds, sequences, seed, shrink, dialect }) {
  return {
    ...process.env,
    PROVE_SECONDS: seconds,
    PROVE_SEQUENCES: sequences,
    PROVE_SEED: seed,
    PROVE_SHRINK: shrink,
    ...(dialect === undefined ? {} : { PROVE_DIALECT: dialect }),
  };
}

try {
  const values = readArguments();
  if (values) {
    ensureInstalled();
    // Killed commands are processes of the built tool.
    runStep("build", process.execPath, ["scripts/build.js"]);
    const args = ["run", "test/model", "--disable-console-intercept", "--reporter=dot"];
    runTool("model", "vitest", args, { env: environment(values) });
  }
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? 2 : 1;
}
