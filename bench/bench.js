// `npm run bench`: the whole table; `npm run bench -- NAME`: one row. Figures, never a pass or a fail.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "../scripts/build.js";
import { ensureInstalled } from "../scripts/install.js";
import { createCorpora } from "./corpus.js";
import { decoderRow } from "./decoder.js";
import { firstTokenRow } from "./first-token.js";
import { lintRow } from "./lint.js";
import { figure, measurePair, runOnce } from "./pair.js";
import { growthRow, unchangedRows } from "./scan.js";
import { sharedRow, workersRow } from "./shared.js";
import { startListingReceiver, startSandboxProcess, withService } from "./service.js";
import { stateOpenRow, stdinRow } from "./stdin.js";
import { throttledRow } from "./throttled.js";
import { latencyRow, uploadRow } from "./upload.js";

const binary = resolve(import.meta.dirname, "..", "bin", "knowctl.cjs");
const bare = { args: ["-e", "0"] };
const tool = (...args) => ({ args: [binary, ...args] });

/** Start-up as paired ratios to bare Node. */
function startupRow(name, must, runs, makeSubject) {
  return {
    name,
    run: ({ folder }) =>
      withService(startListingReceiver(folder), (receiver) => {
        const result = measurePair(makeSubject(receiver), bare, runs)("ms");
        const times = `${figure(result.subject, 1)} ms against ${figure(result.against, 1)} ms`;
        return `${figure(result.ratio, 2)} times bare Node, at most ${must}; ${times}`;
      }),
  };
}

/** A Tab after `connectors find `, with the names of 50 connectors kept. */
const completionRow = startupRow("completion", 1.5, 31, ({ env, folder }) => {
  const own = { ...env, HOME: folder, XDG_CACHE_HOME: join(folder, "cache"), CI: "" };
  runOnce({ ...tool("connectors", "list"), env: own, cwd: folder });
  const tab = tool("__complete", "bash", "9", " =:", "knowctl connectors find ");
  return { ...tab, env: own, cwd: folder };
});

/** A thousand files against the sandbox: peak memory, first run and unchanged run. */
const ingestRow = {
  name: "ingest-1000",
  run: ({ corpora, folder }) =>
    withService(startSandboxProcess(binary, folder), ({ env }) => {
      const cwd = corpora({ files: 1000, folders: 10, bytes: 4096 });
      const subject = { ...tool("ingest", ".", "--cc-pair-id", "2", "--quiet"), cwd, env };
      const [first, second] = [runOnce(subject, true), runOnce(subject, true)];
      rmSync(join(cwd, ".knowctl"), { recursive: true, force: true });
      const text = ({ megabytes, ms }) => `${megabytes.toFixed(0)} MB, ${(ms / 1000).toFixed(2)} s`;
      return `first run ${text(first)}; unchanged ${text(second)}; memory under 150 MB`;
    }),
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
  completionRow,
  ingestRow,
  lintRow,
  uploadRow,
  latencyRow,
  throttledRow,
  sharedRow,
  workersRow,
  ...unchangedRows,
  growthRow,
  stdinRow,
  stateOpenRow,
  decoderRow,
  firstTokenRow,
];

/** Runs the chosen rows. `argument` is for the row, e.g. a smaller number of documents. */
async function bench(wanted, argument) {
  ensureInstalled();
  await build();
  const chosen = rows.filter(({ name }) => !wanted || name === wanted);
  if (chosen.length === 0) throw new Error(`rows are ${rows.map(({ name }) => name).join(", ")}`);
  console.log(`Node ${process.version}; medians (minimum–maximum) of runs in turn\n`);
  const folder = mkdtempSync(join(tmpdir(), "knowctl-bench-"));
  try {
    const corpora = createCorpora(folder);
    for (const { name, run } of chosen) {
      const text = await run({ binary, corpora, folder }, argument).catch((error) => {
        process.exitCode = 1;
        return `failed: ${error.message}`;
      });
      console.log(`${name.padEnd(17)} ${text.trim().replaceAll("\n", `\n${" ".repeat(18)}`)}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await bench(process.argv[2], process.argv[3]);
} catch (error) {
  console.error(`bench failed: ${error.message}`);
  process.exitCode = 1;
}
