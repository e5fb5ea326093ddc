// `npm run bench`: the whole table; `npm run bench -- NAME`: one row. Ratios, never a pass or a fail.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "../scripts/build.js";
import { ensureInstalled } from "../scripts/install.js";
import { measurePair } from "./pair.js";
import { startSandboxProcess } from "./sandbox.js";

const binary = resolve(import.meta.dirname, "..", "bin", "knowctl.cjs");
const bare = { args: ["-e", "0"] };
const tool = (...args) => ({ args: [binary, ...args] });

/** name, what is run, against what, and the ratio the project holds itself to. */
function startupRows(service) {
  const list = { ...tool("connectors", "list"), env: service.env, cwd: service.folder };
  return [
    { name: "version", subject: tool("--version"), against: bare, must: 1.15, runs: 31 },
    { name: "help", subject: tool("--help"), against: bare, must: 1.2, runs: 31 },
    { name: "command-help", subject: tool("ingest", "--help"), against: bare, must: 1.6, runs: 31 },
    { name: "connectors-list", subject: list, against: bare, must: 4.5, runs: 21 },
  ];
}

const figure = ({ min, median, max }, digits) =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;

async function bench(wanted) {
  ensureInstalled();
  await build();
  const folder = mkdtempSync(join(tmpdir(), "knowctl-bench-"));
  const service = await startSandboxProcess(binary, folder);
  try {
    const rows = startupRows(service).filter(({ name }) => !wanted || name === wanted);
    if (rows.length === 0) throw new Error(`no row is called ${wanted}`);
    console.log(`Node ${process.version}; medians with minimum and maximum of paired runs\n`);
    console.log(
      "row               must   ratio                    ms                       against, ms",
    );
    for (const { name, subject, against, must, runs } of rows) {
      const result = measurePair(subject, against, runs);
      const cells = [
        name.padEnd(17),
        String(must).padEnd(6),
        figure(result.ratio, 2).padEnd(24),
        figure(result.subject, 1).padEnd(24),
        figure(result.against, 1),
      ];
      console.log(cells.join(" "));
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await bench(process.argv[2]);
} catch (error) {
  console.error(`bench failed: ${error.message}`);
  process.exitCode = 1;
}
