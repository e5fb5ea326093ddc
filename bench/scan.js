import { rmSync } from "node:fs";
import { join } from "node:path";
import { figure, measurePair, runOnce } from "./pair.js";
import { startIngestionReceiver, withService } from "./service.js";

const files = 100_000;
const shell = (line) => ({ command: "sh", args: ["-c", line] });

/** A run over 100,000 files of which none has changed, against a shell command on the same files. */
function unchangedRow({ name, flags, against, goals, runs }) {
  return {
    name,
    run: ({ binary, corpora, folder }) =>
      withService(startIngestionReceiver(folder), ({ env }) => {
        const cwd = corpora({ files, folders: 1000, bytes: 2048 });
        const state = join(folder, "state-of-scan");
        const args = [binary, "ingest", ".", "--cc-pair-id", "2", "--state", state, "--quiet"];
        runOnce({ args, cwd, env });
        try {
          const tool = { args: [...args, ...flags], cwd, env };
          const measured = measurePair(tool, { ...shell(against), cwd }, runs, { withUsage: true });
          const time = measured("ms");
          const peaks = runOnce(tool, true);
          return `${figure(time.ratio, 2)} times \`${against}\`, ${goals}; ${figure(time.subject, 0)} ms against ${figure(time.against, 0)} ms, ${peaks.megabytes.toFixed(0)} MB at the peak`;
        } finally {
          rmSync(state, { recursive: true, force: true });
        }
      }),
  };
}

export const unchangedRows = [
  unchangedRow({
    name: "unchanged",
    flags: [],
    against: "find . -name '*.md' -printf '%s %T@ %p\\n'",
    goals: "at most 3.0 (aim 2.0)",
    runs: 9,
  }),
  unchangedRow({
    name: "checksum",
    flags: ["--checksum"],
    against: "find . -name '*.md' -print0 | xargs -0 -P2 sha256sum",
    goals: "at most 1.3 (aim 0.9)",
    runs: 5,
  }),
];

/** Time and memory of first and unchanged runs as the number of files grows. */
export const growthRow = {
  name: "growth",
  run: ({ binary, corpora, folder }) =>
    withService(startIngestionReceiver(folder), ({ env }) => {
      const lines = [1000, 10_000, files].map((count) => {
        const cwd = corpora({ files: count, folders: Math.min(1000, count / 10), bytes: 2048 });
        const state = join(folder, "state-of-growth");
        const flags = ["--cc-pair-id", "2", "--concurrency", "16", "--state", state];
        const tool = { args: [binary, "ingest", ".", ...flags, "--quiet"], cwd, env };
        const [first, second] = [runOnce(tool, true), runOnce(tool, true)];
        rmSync(state, { recursive: true, force: true });
        const text = ({ ms, megabytes }) =>
          `${((ms / count) * 1000).toFixed(0)} µs a file, ${megabytes.toFixed(0)} MB`;
        return `${count} files: first run ${text(first)}; unchanged ${text(second)}`;
      });
      return lines.join("\n");
    }),
};
