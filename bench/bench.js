// `npm run bench`: the whole table; `npm run bench -- NAME`: one row. Figures, never a pass or a fail.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "../scripts/build.js";
import { ensureInstalled } from "../scripts/install.js";
import { measurePeak, writeDocuments } from "./memory.js";
import { measurePair } from "./pair.js";
import { startReceiver, startSandboxProcess } from "./service.js";

const binary = resolve(import.meta.dirname, "..", "bin", "knowctl.cjs");
const bare = { args: ["-e", "0"] };
const tool = (...args) => ({ args: [binary, ...args] });
const figure = ({ min, median, max }, digits) =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;

/** Start-up as paired ratios to bare Node. */
function startupRow(name, must, runs, makeSubject) {
  return {
    name,
    async run(folder) {
      const receiver = await startReceiver(folder);
      try {
        const result = measurePair(makeSubject(receiver), bare, runs);
        const times = `${figure(result.subject, 1)} ms against ${figure(result.against, 1)} ms`;
        return `${figure(result.ratio, 2)} times bare Node, at most ${must}; ${times}`;
      } finally {
        await receiver.stop();
      }
    },
  };
}

/** A thousand files against the sandbox: peak memory, first run and unchanged run. */
const ingestRow = {
  name: "ingest-1000",
  async run(folder) {
    const service = await startSandboxProcess(binary, folder);
    const cwd = join(folder, "documents");
    writeDocuments(cwd, 1000);
    try {
      const args = ["ingest", ".", "--cc-pair-id", "2", "--quiet"];
      const [first, second] = [1, 2].map(() =>
        measurePeak(binary, args, { cwd, env: service.env }),
      );
      const text = ({ megabytes, seconds }) =>
        `${megabytes.toFixed(0)} MB, ${seconds.toFixed(2)} s`;
      return `first run ${text(first)}; unchanged ${text(second)}; memory under 150 MB`;
    } finally {
      await service.stop();
    }
  },
};

const rows = [
  startupRow("version", 1.15, 31, () => tool("--version")),
  startupRow("help", 1.2, 31, () => tool("--help")),
  startupRow("command-help", 1.6, 31, () => tool("ingest", "--help")),
  startupRow("connectors-list", 4.5, 31, ({ env, folder }) => ({
    ...tool("connectors", "list"),
    env,
    cwd: folder,
  })),
  ingestRow,
];

async function bench(wanted) {
  ensureInstalled();
  await build();
  const chosen = rows.filter(({ name }) => !wanted || name === wanted);
  if (chosen.length === 0) throw new Error(`rows are ${rows.map(({ name }) => name).join(", ")}`);
  console.log(`Node ${process.version}; medians (minimum–maximum) of runs in turn\n`);
  for (const { name, run } of chosen) {
    const folder = mkdtempSync(join(tmpdir(), "knowctl-bench-"));
    try {
      console.log(`${name.padEnd(17)} ${await run(folder)}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

try {
  await bench(process.argv[2]);
} catch (error) {
  console.error(`bench failed: ${error.message}`);
  process.exitCode = 1;
}
