// `npm run pictures`: builds, runs the program on a terminal, and draws what it shows:
// docs/pictures/*.svg; --check compares them with the build that is there.
// Needs `script` of util-linux, which gives a command a terminal.
import { spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { build } from "./build.js";
import { ensureInstalled, projectFolder } from "./install.js";
import { drawTerminal } from "./terminal-picture.js";
import { endSandbox, startSandbox, trialEnvironment } from "./trial-sandbox.js";

// As wide as the longest line of most scenes.
const usualColumns = 88;
const binary = join(projectFolder, "bin", "knowctl.cjs");
const pictures = join(projectFolder, "docs", "pictures");
const isCheck = process.argv.includes("--check");

/**
 * Each picture shows commands in order, on a terminal of `columns`. `typed`: when the terminal shows
 * the first text, the second one is sent, and the function changes the folder; `change` is done to
 * the folder before the command; `exit` is its exit code, if not 0. With `calls`, a client starts the
 * command, calls these tools, and shows each call and its result.
 */
const scenes = {
  try: {
    title: "knowctl try uploads a folder and answers a question from it",
    steps: [
      {
        line: "knowctl try docs",
        typed: [
          ["> ", "How do I request leave?\r"],
          ["Sources", "\u0004"],
        ],
      },
    ],
  },
  help: { title: "knowctl ingest -h on one screen", steps: [{ line: "knowctl ingest -h" }] },
  connectors: { title: "The list of connectors", steps: [{ line: "knowctl connectors list" }] },
  upload: {
    title: "An upload, and a second one that sends only the changed file",
    steps: [
      { line: "knowctl ingest docs --cc-pair-id 2" },
      {
        line: "knowctl ingest docs --cc-pair-id 2",
        change: (folder) => appendFileSync(join(folder, "docs", "welcome.md"), "\nWelcome!\n"),
      },
    ],
  },
  answer: {
    title: "An answer with its sources",
    steps: [{ line: 'knowctl chat "How do I request annual leave?"' }],
  },
  watch: {
    title: "knowctl ingest --watch: an upload, a changed file, a broken file, Ctrl-C",
    steps: [
      {
        line: "knowctl ingest docs --cc-pair-id 2 --watch",
        typed: [
          [
            "watching",
            "",
            (folder) => appendFileSync(join(folder, "docs", "welcome.md"), "More.\n"),
          ],
          [
            "1 updated",
            "",
            (folder) => writeFileSync(join(folder, "docs", "new.md"), "---\nid: []\n---\n"),
          ],
          ["1 failed", "\u0003", (folder) => rmSync(join(folder, "docs", "new.md"))],
        ],
        exit: 130,
      },
    ],
  },
  agent: {
    title: "The tools that an agent calls: plan, ingest, ask, and a question that is not allowed",
    columns: 116,
    steps: [
      {
        line: "knowctl mcp --allow-ingest docs --cc-pair-id 2 --allow-tokens 1",
        change: (folder) => appendFileSync(join(folder, "docs", "welcome.md"), "Ask anybody.\n"),
        calls: [
          ["plan", {}],
          ["ingest", {}],
          ["ask", { question: "How do I request annual leave?" }],
          ["ask", { question: "Who approves it?" }],
        ],
      },
    ],
  },
  // The last one: it adds pages with mistakes.
  lint: {
    title: "Findings of knowctl lint: a password, a dead link, two pages that disagree",
    columns: 116,
    steps: [{ line: "knowctl lint docs", change: addMistakes, exit: 13 }],
  },
};

function addMistakes(folder) {
  // In parts: a scanner of this repository would find the password in one piece.
  const address = ["https://ada:", "qR7vLx2pTn", "@files.larkfield.io/driver"].join("");
  const pages = {
    "it/printers.md": `# Printers\n\nEverybody can print on every floor. The driver is at ${address}.\n`,
    "office/parking.md":
      "# Parking\n\nSee [the map](map.md). There are 40 places behind the house.\n\n## Bicycles\n\nTBD\n",
    "people/archive.md":
      "# Overview\n\n## Overview\n\nEverybody has 25 days of paid leave a year, public holidays not counted.\n",
  };
  for (const [path, text] of Object.entries(pages)) writeFileSync(join(folder, "docs", path), text);
}

/** What differs from run to run, and what stands for it. */
const volatile = [
  [/\/tmp\/kb-\w{6}/g, "/home/ada/wiki"],
  [/\/tmp\/knowctl-pictures-\w{6}/g, "/home/ada"],
  [/\b\d\d:\d\d:\d\d\b/g, "09:30:00"],
  [/in \d+\.\d+ ?s\b/g, "in 0.4s"],
  [/\b\d+ months ago/g, "5 months ago"],
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:8787"],
  [/data-[0-9a-f]{12}/g, "data-4f0c93b1d27e"],
  [
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    "5b0e3a52-8a4c-4c63-9b54-b1a3e0a5d7f2",
  ],
];

/** Runs a command line on a terminal of its own. Resolves to the bytes that the terminal received. */
async function runOnTerminal({ line, typed = [], exit = 0 }, { folder, env, columns }) {
  const command = line.replace(/^knowctl/, `"${process.execPath}" "${binary}"`);
  const shell = `stty cols ${columns} rows 24; exec ${command}`;
  const child = spawn("script", ["-qec", shell, "/dev/null"], {
    cwd: folder,
    env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
    // A program that never shows the text that is waited for is ended.
    timeout: 60_000,
  });
  let output = "";
  let from = 0;
  const steps = [...typed];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
    const at = steps.length === 0 ? -1 : output.indexOf(steps[0][0], from);
    if (at < 0) return;
    from = output.length;
    const [, keys, during] = steps.shift();
    during?.(folder);
    child.stdin.write(keys);
  });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  if (code !== exit) throw new Error(`${line}: exit ${code}\n${output}`);
  return output;
}

/** Calls tools as an agent does. Resolves to what a terminal would show of it. */
async function runForAgent({ line, calls }, { folder, env }) {
  const [, ...args] = line.split(" ");
  const command = { command: process.execPath, args: [binary, ...args], cwd: folder, env };
  const transport = new StdioClientTransport({ ...command, stderr: "pipe" });
  let [notes, output] = ["", ""];
  transport.stderr.on("data", (text) => (notes += text));
  const client = new Client({ name: "pictures", version: "1" });
  await client.connect(transport);
  for (const [name, input] of calls) {
    const { content } = await client.callTool({ name, arguments: input });
    output += `\n\u001b[36m→ ${name} ${JSON.stringify(input)}\u001b[0m\n${content[0].text}\n`;
  }
  await client.close();
  return `${notes}${output}`.replaceAll("\n", "\r\n");
}

async function drawScene(scene, place) {
  const { columns = usualColumns } = scene;
  let output = "";
  for (const step of scene.steps) {
    step.change?.(place.folder);
    const shown = step.calls
      ? await runForAgent(step, place)
      : await runOnTerminal(step, { ...place, columns });
    output += `\u001b[1m$ ${step.line}\u001b[0m\r\n${shown}\r\n`;
  }
  const settled = volatile.reduce((text, [pattern, value]) => text.replace(pattern, value), output);
  return await drawTerminal({ output: settled, columns, title: scene.title });
}

/** The environment without what changes a terminal's look: CI, NO_COLOR and the like. */
function plainEnvironment(home, extra) {
  const kept = /^(?:PATH|LANG|LC_\w+|XDG_\w+|KNOWCTL_\w+)$/;
  const all = Object.entries(trialEnvironment(home, extra));
  return { ...Object.fromEntries(all.filter(([name]) => kept.test(name))), HOME: home };
}

/** Draws all pictures; a path is as long as the one that stands for it, so that lines break alike. */
async function drawAll(home, folder, url) {
  const service = { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" };
  for (const [name, scene] of Object.entries(scenes)) {
    const env = plainEnvironment(home, name === "try" ? {} : service);
    const picture = await drawScene(scene, { folder, env });
    const file = join(pictures, `${name}.svg`);
    if (!isCheck) writeFileSync(file, picture);
    else if (readFileSync(file, "utf8") !== picture) {
      console.error(`docs/pictures/${name}.svg is out of date; run \`npm run pictures\``);
      process.exitCode = 1;
    }
  }
}

if (!isCheck) {
  ensureInstalled();
  await build();
}
const home = mkdtempSync(join(tmpdir(), "knowctl-pictures-"));
const folder = mkdtempSync("/tmp/kb-");
cpSync(join(projectFolder, "examples", "handbook"), join(folder, "docs"), { recursive: true });
// Marks the project root.
writeFileSync(join(folder, ".cliconfig.json"), "{}\n");
mkdirSync(pictures, { recursive: true });
const { child, url } = await startSandbox(home);
try {
  await drawAll(home, folder, url);
} finally {
  await endSandbox(child);
  for (const each of [home, folder]) rmSync(each, { recursive: true, force: true });
}
