import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A folder of `count` Markdown files of about 4 KiB with front matter. */
export function writeDocuments(folder, count) {
  mkdirSync(join(folder, ".git"), { recursive: true });
  const paragraph =
    "The quick review of the quarterly plan names owners, dates and open questions. ";
  for (let index = 0; index < count; index++) {
    const name = String(index).padStart(6, "0");
    const head = `---\ntitle: Document ${name}\ntags: [bench, sample]\nupdated: 2026-01-02\n---\n`;
    writeFileSync(
      join(folder, `${name}.md`),
      `${head}# Document ${name}\n\n${paragraph.repeat(50)}\n`,
    );
  }
}

/** Runs the tool and gives its wall-clock seconds and its peak resident memory in MB. */
export function measurePeak(binary, args, { cwd, env }) {
  const preload = join(import.meta.dirname, "peak.cjs");
  const startedAt = process.hrtime.bigint();
  const result = spawnSync(process.execPath, ["--require", preload, binary, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  if (result.status !== 0)
    throw new Error(`ingest ended with ${result.status}: ${String(result.stderr)}`);
  const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
  return { seconds, megabytes: Number(String(result.output[3])) / 1024 };
}
