import { rmSync } from "node:fs";
import { join } from "node:path";
import { figure, measurePair } from "./pair.js";
import { startIngestionReceiver, withService } from "./service.js";

const barePool = join(import.meta.dirname, "bare-pool.js");

/** A first upload of `files` files of 4 KiB, as a whole process, against a bare Pool loop. */
function compare({ binary, corpora, folder }, { files, inFlight, latencyMs, runs, warmUp = true }) {
  return withService(startIngestionReceiver(folder, latencyMs), ({ url, env }) => {
    const cwd = corpora({ files, folders: Math.ceil(files / 100), bytes: 4096 });
    const state = join(folder, "state-of-upload");
    const flags = ["--cc-pair-id", "2", "--concurrency", String(inFlight), "--state", state];
    const tool = {
      args: [binary, "ingest", ".", ...flags, "--quiet"],
      cwd,
      env,
      before: () => rmSync(state, { recursive: true, force: true }),
    };
    const bare = { args: [barePool, url, String(files), String(inFlight)] };
    return measurePair(tool, bare, runs, { withUsage: true, warmUp });
  });
}

const perDocument = (us) => `${us.toFixed(0)} µs`;

/** Full speed, over loopback without latency. */
export const uploadRow = {
  name: "upload",
  async run(bench) {
    const files = 20_000;
    const measured = await compare(bench, { files, inFlight: 16, latencyMs: 0, runs: 11 });
    const [time, cpu, memory] = ["ms", "cpuMs", "megabytes"].map(measured);
    const rate = (ms) => `${Math.round((files / ms) * 1000)} documents/s`;
    const cpuOf = ({ median }) => perDocument((median / files) * 1000);
    return [
      `${figure(time.inverse, 2)} of the documents per second of a bare Pool, at least 0.28 (aim 0.40); ${rate(time.subject.median)} against ${rate(time.against.median)}`,
      `${figure(cpu.ratio, 2)} of its CPU per document, at most 4.5 (aim 3.0); ${cpuOf(cpu.subject)} against ${cpuOf(cpu.against)}`,
      `${figure(memory.subject, 0)} MB at the peak against ${figure(memory.against, 0)} MB`,
    ].join("\n");
  },
};

// As many documents as above, but for the last, which would take four minutes each time.
const latencies = [
  { latencyMs: 20, inFlight: 16, files: 20_000, must: 0.95, runs: 3 },
  { latencyMs: 20, inFlight: 64, files: 20_000, must: 0.8, runs: 3 },
  { latencyMs: 200, inFlight: 64, files: 8000, must: 0.98, runs: 1 },
];

/** With latency, where only the number of requests in flight counts. */
export const latencyRow = {
  name: "upload-latency",
  async run(bench) {
    const lines = [];
    for (const { must, ...each } of latencies) {
      const { inverse } = (await compare(bench, { ...each, warmUp: false }))("ms");
      lines.push(
        `${each.latencyMs} ms, ${each.inFlight} in flight: ${figure(inverse, 3)} of the documents per second of a bare Pool, at least ${must}`,
      );
    }
    return lines.join("\n");
  },
};
