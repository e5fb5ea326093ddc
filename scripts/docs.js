// `npm run docs`: writes the parts of README.md and docs/ that come from the program; --check only compares.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { configKeyRows } from "./config-keys.js";
import { projectFolder } from "./install.js";
import { manualPage } from "./man.js";
import { roomsPicture } from "./rooms.js";

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

function configuration() {
  const text = readFileSync(join(projectFolder, "docs", "configuration.md"), "utf8");
  const schema = readFileSync(join(projectFolder, "schema", "cliconfig.schema.json"), "utf8");
  const header = ["key", "value", "example", "flag", "meaning"];
  const rows = configKeyRows(JSON.parse(schema), helpTexts());
  return replacePart(text, "keys", table(header, rows));
}

const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
const files = {
  "docs/commands.md": commandReference(),
  "docs/knowctl.1": manualPage(helpTexts(), version),
  "docs/configuration.md": configuration(),
  "docs/rooms.svg": roomsPicture(),
  "README.md": readme(),
};
for (const [path, content] of Object.entries(files)) {
  const absolute = join(projectFolder, path);
  if (process.argv.includes("--check")) {
    let current = "";
    try {
      current = readFileSync(absolute, "utf8");
    } catch {
      // A missing file is out of date too.
    }
    if (current !== content) {
      console.error(`${path} is out of date; run \`npm run docs\` and commit it`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, content);
  }
}
