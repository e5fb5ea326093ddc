// `npm run prove -- NAME`: tries random sequences of commands, or the properties of a part, for long.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { proveCorpora } from "./corpora/corpora.js";
import { ensureInstalled, projectFolder, runStep, runTool } from "./install.js";

const usage = `npm run prove -- model [--seconds N] [--sequences N] [--seed S] [--dialect standard|onyx] [--shrink SECONDS]

Plays N random sequences of commands in each dialect, or as many as fit into the seconds, against a
service on this machine. The first has the seed S, each other one the next number. Prints what was
violated as a script to replay by hand, with its seed; exits 1 then.

npm run prove -- NAME [--seconds N] [--runs N] [--seed S]

Runs each property of the folders or files NAME below test/ N times (5000), or as often as fits into
the seconds (60), with other values each time; \`all\` names every property. Prints the values that
break a property, with the seed that finds them again; exits 1 then.

npm run prove -- corpora FOLDER… [--show N] [--json] [--convert FLAGS] [--site FOLDER [--main ELEMENT]]

Reads each document of the folders by this tool and by the readers that are installed: pandoc,
markdown-it, Sphinx, docutils, Asciidoctor, LibreOffice, pdftotext and others. Flags a document where
two of them have more than 1 % of its words that this tool lacks, or where this tool has more than 1 %
that none of them has. Lists up to N (10) flagged documents of each format with these words; --json
prints a line for each document. Compares each document with the pages of another file as well: most
of these must be flagged. Exits 1 where more than 1 % of the documents of a format is flagged, where a
document lacks two readers or cannot be read by the tool, and where nothing was compared.
FLAGS are flags of \`knowctl convert\`, in one argument. With the built pages of a site (text in MAIN:
\`article\`, \`.content\`; else \`main\`) the page that a document's link leads to decides alone, and
the anchors of sections are looked up in it: --site build --convert="--link-style docusaurus".`;

const numbers = ["seconds", "sequences", "seed", "shrink", "runs", "show"];

/** The tests in folders or files of this name that try many values. */
function propertyTests(name) {
  const all = readdirSync(join(projectFolder, "test"), { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".test.ts") && !path.startsWith("model/"));
  const named = all.filter(
    (path) => name === "all" || `/${path}`.includes(`/${name}/`) || path.startsWith(name),
  );
  return named
    .map((path) => `test/${path}`)
    .filter((path) => readFileSync(join(projectFolder, path), "utf8").includes("/property.ts"));
}

/** The options of a name; of a folder of properties the last ones. */
const known = {
  model: ["seconds", "sequences", "seed", "shrink", "dialect"],
  corpora: ["show", "json", "site", "main", "convert"],
  properties: ["seconds", "seed", "runs"],
};

function readArguments() {
  const names = new Set(Object.values(known).flat());
  const options = Object.fromEntries([...names].map((name) => [name, { type: "string" }]));
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { ...options, json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  const [name, ...more] = positionals;
  const ours = [...(known[name] ?? known.properties), "help"];
  const isRight =
    name !== undefined &&
    more.length > 0 === (name === "corpora") &&
    numbers.every((each) => values[each] === undefined || /^\d+$/.test(values[each])) &&
    Object.keys(values).every((each) => ours.includes(each)) &&
    [undefined, "standard", "onyx"].includes(values.dialect);
  if (values.help || !isRight) {
    console.error(usage);
    process.exitCode = values.help ? 0 : 2;
    return undefined;
  }
  return { name, folders: more, ...values };
}

function proveModel({
  seconds = "600",
  sequences = "1000000",
  seed = "1",
  shrink = "60",
  dialect,
}) {
  const env = {
    ...process.env,
    PROVE_SECONDS: seconds,
    PROVE_SEQUENCES: sequences,
    PROVE_SEED: seed,
    PROVE_SHRINK: shrink,
    ...(dialect === undefined ? {} : { PROVE_DIALECT: dialect }),
  };
  const args = ["run", "test/model", "--disable-console-intercept", "--reporter=dot"];
  runTool("model", "vitest", args, { env });
}

function proveProperties({ name, runs = "5000", seconds = "60", seed }) {
  const files = propertyTests(name);
  if (files.length === 0) {
    console.error(`test/${name} has no properties\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const env = {
    ...process.env,
    KNOWCTL_TEST_RUNS: runs,
    PROVE_SECONDS: seconds,
    ...(seed === undefined ? {} : { PROVE_SEED: seed }),
  };
  runTool(name, "vitest", ["run", ...files, "--testTimeout=0"], { env });
}

try {
  const values = readArguments();
  if (values) {
    ensureInstalled();
    // Killed commands are processes of the built tool.
    runStep("build", process.execPath, ["scripts/build.js"]);
    if (values.name === "model") proveModel(values);
    else if (values.name === "corpora") {
      process.exitCode = (await proveCorpora(values.folders, values)) ? 0 : 1;
    } else proveProperties(values);
  }
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? 2 : 1;
}
