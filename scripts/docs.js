// `npm run docs`: builds, then writes schema/ and the parts of README.md and docs/ that come from the
// program; --check compares them with the build that is there, and writes nothing.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "./build.js";
import { configKeyRows } from "./config-keys.js";
import { ensureInstalled, projectFolder } from "./install.js";
import { manualPage } from "./man.js";
import { roomsPicture } from "./rooms.js";
import { readSchemas } from "./schemas.js";

const isCheck = process.argv.includes("--check");
if (!isCheck) {
  ensureInstalled();
  await build();
}

const require = createRequire(import.meta.url);
const { helpTexts, commandSummaries, exitCodeRows } = require(
  join(projectFolder, "dist", "program.cjs"),
);

function commandReference() {
  const sections = Object.entries(helpTexts()).map(([path, text]) => {
    const name = path === "" ? "knowctl" : `knowctl ${path}`;
    return `## ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
  });
  return `# Commands\n\nGenerated from the program by \`npm run docs\`; the same texts as \`--help\`.\n\n${sections.join("\n")}`;
}

function table(header, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

function replacePart(text, name, content) {
  const [begin, end] = [`<!-- ${name}: generated -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no part ${name}`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`;
}

function readme() {
  let text = readFileSync(join(projectFolder, "README.md"), "utf8");
  const commands = commandSummaries().map(([name, summary]) => [`\`knowctl ${name}\``, summary]);
  text = replacePart(text, "commands", table(["command", "what it does"], commands));
  return replacePart(text, "exit codes", table(["code", "name", "when"], exitCodeRows()));
}

function configuration({ cliconfig }) {
  const text = readFileSync(join(projectFolder, "docs", "configuration.md"), "utf8");
  const header = ["key", "value", "example", "flag", "meaning"];
  const rows = configKeyRows(cliconfig, helpTexts());
  return replacePart(text, "keys", table(header, rows));
}

const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
const schemas = await readSchemas();
const schemaFiles = Object.entries(schemas).map(([name, schema]) => [
  `schema/${name}.schema.json`,
  `${JSON.stringify(schema, null, 2)}\n`,
]);
const files = {
  ...Object.fromEntries(schemaFiles),
  "docs/commands.md": commandReference(),
  "docs/knowctl.1": manualPage(helpTexts(), version),
  "docs/configuration.md": configuration(schemas),
  "docs/rooms.svg": roomsPicture(),
  "README.md": readme(),
};

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

for (const name of readdirSync(join(projectFolder, "schema"))) {
  if (!(`schema/${name}` in files)) fail(`schema/${name}: add its source to scripts/schemas.js`);
}
for (const [path, content] of Object.entries(files)) {
  const absolute = join(projectFolder, path);
  if (isCheck) {
    let current = "";
    try {
      current = readFileSync(absolute, "utf8");
    } catch {
      // A missing file is out of date too.
    }
    if (current !== content) fail(`${path} is out of date; run \`npm run docs\` and commit it`);
  } else {
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, content);
  }
}
