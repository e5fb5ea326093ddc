// Workers that claim documents on one shared record: node bench/scale.js DOCUMENTS WORKERS [MS]
// KNOWCTL_SHARED_STATE names a database of this machine; without workers, one process sends without it. The
// service answers after MS (20). Prints one line of JSON: the time of all workers, their processor time, what
// the database did meanwhile, and the time of a run from an empty folder. Linux only.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { startIngestionReceiver } from "./service.js";

const [documents, workers, latencyMs = 20] = process.argv.slice(2).map(Number);
const binary = resolve(import.meta.dirname, "..", "bin", "knowctl.cjs");
const filesPerFolder = 1000;

/** Files of about 1 KB, in a repository: a run is named by the commit. */
function writeDocuments(folder) {
  const text = "The quick review of the quarterly plan names owners and dates. ".repeat(14);
  for (let n = 0; n < documents; n++) {
    const below = join(folder, "docs", String(Math.floor(n / filesPerFolder)));
    if (n % filesPerFolder === 0) mkdirSync(below, { recursive: true });
    writeFileSync(join(below, `${n}.md`), `# Document ${n}\n\n${text}${n}\n`);
  }
}

/** Runs the tool; resolves with its seconds. */
function runTool(args, { folder, env }) {
  const begun = performance.now();
  const child = spawn(process.execPath, [binary, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (data) => (stderr += data));
  return new Promise((done, fail) => {
    child.on("close", (code) => {
      if (code !== 0) fail(new Error(`exit ${code}: ${stderr}`));
      else done((performance.now() - begun) / 1000);
    });
  });
}

/** Processor seconds of the processes that the process has waited for; with `isOwn` its own as well. */
function processorSeconds(pid, isOwn) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  const ticks = fields.slice(isOwn ? 11 : 13, 15).reduce((sum, each) => sum + Number(each), 0);
  return ticks / 100;
}

/** What the database has done so far; its backends have ended, so that the postmaster knows their time. */
async function countersOf(connectionString) {
  const database = new Client({ connectionString });
  await database.connect();
  const { rows } = await database.query(
    `select xact_commit::float8 as commits, pg_database_size(current_database())::float8 as bytes,
       (select count(*) from knowctl_rows)::float8 as rows,
       (pg_current_wal_lsn() - '0/0')::float8 as wal, current_setting('data_directory') as folder
       from pg_stat_database where datname = current_database()`,
  );
  await database.end();
  const [pid] = readFileSync(join(rows[0].folder, "postmaster.pid"), "utf8").split("\n");
  return { ...rows[0], seconds: processorSeconds(pid, true) };
}

const folder = mkdtempSync(join(tmpdir(), "knowctl-scale-"));
const receiver = await startIngestionReceiver(folder, latencyMs);
const url = process.env.KNOWCTL_SHARED_STATE;
try {
  writeDocuments(folder);
  const record = { KNOWCTL_SHARED_STATE: url, KNOWCTL_STATE_PROJECT: `scale-${process.pid}` };
  const env = { ...process.env, ...receiver.env };
  delete env.KNOWCTL_SHARED_STATE;
  if (workers > 0) Object.assign(env, record);
  const place = { folder, env };
  if (workers > 0) await runTool(["state", "share", "--yes"], place);
  const state = (name) => ["--state", `${folder}-${name}`];
  const upload = ["ingest", "docs", "--root", folder, "--cc-pair-id", "2", "--quiet"];
  const claim = workers > 0 ? ["--claim", "--run", "scale"] : [];
  const counters = async () => (workers > 0 ? await countersOf(url) : {});
  const [before, used, begun] = [await counters(), processorSeconds("self"), performance.now()];
  const all = Array.from({ length: Math.max(1, workers) }, (_, n) => n);
  await Promise.all(all.map((n) => runTool([...upload, ...claim, ...state(n)], place)));
  const seconds = (performance.now() - begun) / 1000;
  const cpu = processorSeconds("self") - used;
  const after = await counters();
  const later = workers > 0 ? "later" : 0;
  const laterSeconds = await runTool([...upload, ...state(later)], place);
  const each = (name, factor = 1, digits = 1) => {
    const value = (factor * (after[name] - before[name])) / documents;
    return Number.isNaN(value) ? undefined : Math.round(value * digits) / digits;
  };
  console.log(
    JSON.stringify({
      documents,
      workers,
      latencyMs,
      seconds: Math.round(seconds * 10) / 10,
      perSecond: Math.round(documents / seconds),
      cpuMs: Math.round((100_000 * cpu) / documents) / 100,
      databaseCpuMs: each("seconds", 1000, 100),
      rows: after.rows === undefined ? undefined : after.rows - before.rows,
      bytesEach: each("bytes"),
      walEach: each("wal"),
      commitsPer1000: each("commits", 1000),
      laterSeconds: Math.round(laterSeconds * 10) / 10,
    }),
  );
} finally {
  await receiver.stop();
  for (const name of [...Array(Math.max(1, workers)).keys(), "later"]) {
    rmSync(`${folder}-${name}`, { recursive: true, force: true });
  }
  rmSync(folder, { recursive: true, force: true });
}
