// `npm run prove`: tries for long what the tests try briefly; without a name every part, in half an hour.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ensureInstalled, runStep } from "./install.js";
import { pageText } from "./prove/page.js";
import { partOf, parts } from "./prove/parts.js";

const names = Object.entries(parts).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
const minutes = Object.values(parts).reduce((sum, part) => sum + part.minutes, 0);

const usage = `npm run prove [-- NAME] [--seconds N] [--seed S] [--page FILE]

Tries what can go wrong, on this machine alone, and prints what was tried, what held, and what was
violated with the command that finds it again; exits 1 for a violation. Without NAME: every part, in
${minutes} minutes or about N seconds. A part that lacks a program of this machine is skipped by name.
--page writes the page as well (docs/reliability.md).

${names.join("\n")}
  FOLDER     each property of the folders or files of this name below test/; \`all\` names every one

model [--sequences N] [--dialect standard|onyx] [--shrink SECONDS]
  At most N sequences in each dialect; the first has the seed S, each other one the next number. A
  violation is a script to replay by hand.
engines [--rounds N]
  N rounds; without it 5, or as many as begin within the seconds.
FOLDER, redaction, watch [--runs N]
  Each property N times (5000; watch: 10000), or as often as fits into the seconds.
corpora FOLDER… [--show N] [--json] [--convert FLAGS] [--site FOLDER [--main ELEMENT]]
  Reads each document of the folders by this tool and by the readers that are installed: pandoc,
  markdown-it, Sphinx, docutils, Asciidoctor, LibreOffice, pdftotext and others. Flags a document where
  two of them have more than 1 % of its words that this tool lacks, or where this tool has more than 1 %
  that none of them has. Lists up to N (10) flagged documents of each format with these words; --json
  prints a line for each document. Compares each document with the pages of another file as well: most
  of these must be flagged. Violated where more than 1 % of the documents of a format is flagged, where
  a document lacks two readers or cannot be read by the tool, and where nothing was compared.
  FLAGS are flags of \`knowctl convert\`, in one argument. With the built pages of a site (text in MAIN:
  \`article\`, \`.content\`; else \`main\`) the page that a document's link leads to decides alone, and
  the anchors of sections are looked up in it: --site build --convert="--link-style docusaurus".`;

const numbers = ["seconds", "sequences", "seed", "shrink", "rounds", "runs", "show", "kills"];
const common = ["seconds", "seed", "help"];

function readArguments() {
  const own = Object.values(parts).flatMap(({ options }) => options);
  const all = new Set([...common, "page", "runs", ...own]);
  const options = Object.fromEntries([...all].map((name) => [name, { type: "string" }]));
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { ...options, json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  const [name, ...folders] = positionals;
  const known = [...common, ...(name === undefined ? ["page"] : partOf(name).options)];
  const isRight =
    (folders.length === 0 || name === "corpora") &&
    numbers.every((each) => values[each] === undefined || /^\d+$/.test(values[each])) &&
    Object.keys(values).every((each) => known.includes(each)) &&
    [undefined, "standard", "onyx"].includes(values.dialect);
  if (values.help || !isRight) {
    console.error(usage);
    process.exitCode = values.help ? 0 : 2;
    return undefined;
  }
  return { name, folders, ...values };
}

/** Runs a part; a failure of the part itself is a violation too. */
async function runPart(name, part, { seconds, ...options }) {
  console.log(`\n== ${name}: ${part.about}`);
  console.log(`   ${part.hasNoSeed ? "" : `seed ${options.seed}, `}about ${seconds} seconds`);
  const begun = performance.now();
  const replay = `npm run prove -- ${name} --seed ${options.seed}`;
  const result = await part
    .run({ ...options, seconds })
    .catch((error) => ({ violated: [{ what: `the part failed: ${error.stack}`, replay }] }));
  for (const line of result.tried ?? []) console.log(`   tried: ${line}`);
  if (result.skipped !== undefined) console.log(`   skipped: ${result.skipped}`);
  else if ((result.violated ?? []).length === 0) {
    for (const line of result.held ?? []) console.log(`   held: ${line}`);
  }
  for (const { what, replay: again } of result.violated ?? []) {
    console.log(`   VIOLATED: ${what.replaceAll("\n", "\n     ")}\n     again: ${again}`);
  }
  const took = Math.round((performance.now() - begun) / 1000);
  const again = `npm run prove -- ${name}${part.hasNoSeed ? "" : ` --seed ${options.seed}`}`;
  return { about: part.about, result, seconds: took, again };
}

/**
 * Runs every part with its share of the time, the last one with all that is left, or the one of this name.
 * Returns what each found.
 */
async function prove({ name, seconds, seed, ...options }) {
  const chosen = name === undefined ? Object.entries(parts) : [[name, partOf(name)]];
  const ran = [];
  const begun = performance.now();
  const whole = seconds === undefined ? 60 * minutes : Number(seconds);
  for (const [index, [each, part]] of chosen.entries()) {
    const left = whole - (performance.now() - begun) / 1000;
    const share = Math.max(
      (whole * part.minutes) / minutes,
      index === chosen.length - 1 ? left : 0,
    );
    const own = Math.round(name === undefined ? share : Number(seconds ?? 60 * part.minutes));
    // fast-check takes 32 bits.
    const chosenSeed = seed ?? String(Math.floor(Math.random() * 2 ** 31));
    ran.push([each, await runPart(each, part, { ...options, seconds: own, seed: chosenSeed })]);
  }
  return ran;
}

async function main() {
  const values = readArguments();
  if (!values) return;
  ensureInstalled();
  // The parts run the built tool.
  runStep("build", process.execPath, ["scripts/build.js"]);
  const ran = await prove(values);
  if (ran.some(([, { result }]) => result.unknown)) {
    console.error(`test/${values.name} has no properties\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const broken = ran.filter(([, { result }]) => result.violated?.length > 0);
  const skipped = ran.filter(([, { result }]) => result.skipped !== undefined);
  const listOf = (some) => some.map(([name]) => name).join(", ") || "none";
  console.log(`\n${ran.length} parts; violated: ${listOf(broken)}; skipped: ${listOf(skipped)}`);
  if (values.page !== undefined) {
    const command = [
      "npm run prove",
      ...(values.seconds ? [`-- --seconds ${values.seconds}`] : []),
    ];
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(values.page, pageText(ran, { command: command.join(" "), date }));
  }
  if (broken.length > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? 2 : 1;
}
