import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { figure, measurePair, plainEnvironment } from "./pair.js";
import { startIngestionReceiver, withService } from "./service.js";

const writer = join(import.meta.dirname, "documents-writer.js");

function residentMegabytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

const exitOf = (child) =>
  new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });

/** Sends `count` documents through `ingest -`; gives the resident memory at each 50,000th. */
async function sendThrough({ binary, folder }, count, flags) {
  return withService(startIngestionReceiver(folder), async ({ env, onLine }) => {
    const generator = spawn(process.execPath, [writer, String(count)], {
      stdio: ["ignore", "pipe", "inherit"],
      env: plainEnvironment,
    });
    const args = [binary, "ingest", "-", "--cc-pair-id", "2", "--concurrency", "16", "--quiet"];
    const startedAt = process.hrtime.bigint();
    const tool = spawn(process.execPath, [...args, ...flags], {
      stdio: [generator.stdout, "ignore", "pipe"],
      cwd: folder,
      env: { ...plainEnvironment, ...env },
    });
    // The tool alone holds the reading end now: a writer whose reader has gone must notice.
    generator.stdout.destroy();
    const samples = [];
    onLine((line) => {
      if (line.startsWith("uploads ")) samples.push(residentMegabytes(tool.pid));
    });
    let words = "";
    tool.stderr.on("data", (chunk) => {
      words = (words + chunk).slice(-2000);
    });
    const status = await exitOf(tool);
    generator.kill();
    if (status !== 0) throw new Error(`ingest - ended with ${status}: ${words}`);
    return { samples, seconds: Number(process.hrtime.bigint() - startedAt) / 1e9 };
  });
}

/** Where a state of so many documents is kept while the bench runs: it takes long to make. */
const stateOf = ({ folder }, count) => join(folder, `state-of-${count}`);

/** Resident memory of `ingest -` as a million documents pass. */
export const stdinRow = {
  name: "stdin-million",
  async run(bench, argument) {
    const count = Number(argument ?? 1_000_000);
    if (!(count >= 100_000)) throw new Error("stdin-million takes at least 100000 documents");
    const lines = [];
    const ways = [
      { name: "without state", flags: ["--no-state"] },
      { name: "with state", flags: ["--state", stateOf(bench, count)] },
    ];
    for (const { name, flags } of ways) {
      const { samples, seconds } = await sendThrough(bench, count, flags);
      const [first, most, last] = [samples[0], Math.max(...samples), samples.at(-1)];
      lines.push(
        `${count} documents ${name}: ${first.toFixed(0)} MB at 50,000, ${last.toFixed(0)} MB at the end, ${most.toFixed(0)} MB at most: ${(most / first).toFixed(2)} times, at most 1.2 and 200 MB (aim 1.05); ${seconds.toFixed(0)} s`,
      );
    }
    return lines.join("\n");
  },
};

/** A state is opened and one document looked up: the plan of one file that the state does not know. */
export const stateOpenRow = {
  name: "state-open",
  async run(bench, argument) {
    const counts = [Number(argument ?? 1_000_000), 1000];
    for (const count of counts) {
      const state = stateOf(bench, count);
      if (!existsSync(state)) await sendThrough(bench, count, ["--state", state]);
    }
    const cwd = bench.corpora({ files: 1, folders: 1, bytes: 4096 });
    const args = [bench.binary, "ingest", ".", "--dry-run", "--cc-pair-id", "2", "--quiet"];
    const [large, small] = counts.map((count) => ({
      args: [...args, "--state", stateOf(bench, count)],
      cwd,
    }));
    const time = measurePair(large, small, 15)("ms");
    return `${figure(time.ratio, 2)} times at ${counts[0]} entries what it takes at ${counts[1]}, at most 1.5 (aim 1.1); ${figure(time.subject, 0)} ms against ${figure(time.against, 0)} ms`;
  },
};
