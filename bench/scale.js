// Workers that claim documents on one shared record: node bench/scale.js DOCUMENTS WORKERS [MS]
// Both may be lists: node bench/scale.js 1000,10000,100000 1,2,4,8. Starts a PostgreSQL of its own, with the settings
// that it comes with. With 0 workers one process sends without it. The service answers after MS (20). Prints a line
// of JSON for each: the time of all workers, their processor time, what the database did meanwhile, and time and
// memory of a run from an empty folder. A million documents need 12 GB in the temporary folder. Linux only.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { startIngestionReceiver, withService } from "./service.js";
import { startDatabase } from "./shared.js";

const [sizes = [], counts = [], [latencyMs = 20] = []] = process.argv
  .slice(2)
  .map((list) => list.split(",").map(Number));
if (sizes.length === 0 || counts.length === 0) {
  console.error("node bench/scale.js DOCUMENTS[,DOCUMENTS] WORKERS[,WORKERS] [MS]");
  process.exit(2);
}
const binary = resolve(import.meta.dirname, "..", "bin", "knowctl.cjs");
const filesPerFolder = 1000;

/** Files of about 1 KB. */
function writeDocuments(folder, documents) {
  const text = "The quick review of the quarterly plan names owners and dates. ".repeat(14);
  for (let n = 0; n < documents; n++) {
    const below = join(folder, "docs", String(Math.floor(n / filesPerFolder)));
    if (n % filesPerFolder === 0) mkdirSync(below, { recursive: true });
    writeFileSync(join(below, `${n}.md`), `# Document ${n}\n\n${text}${n}\n`);
  }
}

/** Most memory that a process had so far, in MB; 0 when it has ended. */
function memoryOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  } catch {
    return 0;
  }
}

/** Runs the tool; resolves with its seconds and megabytes. */
function runTool(args, { folder, env }) {
  const begun = performance.now();
  const child = spawn(process.execPath, [binary, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (data) => (stderr += data));
  let megabytes = 0;
  const look = () => (megabytes = Math.max(megabytes, memoryOf(child.pid)));
  const looking = setInterval(look, 200);
  return new Promise((done, fail) => {
    child.on("close", (code) => {
      clearInterval(looking);
      if (code !== 0) fail(new Error(`exit ${code}: ${stderr}`));
      else done({ seconds: (performance.now() - begun) / 1000, megabytes });
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

const rounded = (value, digits = 10) => Math.round(value * digits) / digits;

/** Sends the documents of a folder with so many workers, and prints a line. */
async function measure({ folder, documents, workers, service, database }) {
  if (workers > 0) database.reset();
  const record = workers > 0 ? database.env : {};
  const place = { folder, env: { ...process.env, ...service.env, ...record } };
  const url = database.env.KNOWCTL_SHARED_STATE;
  if (workers > 0) await runTool(["state", "share", "--yes", "--state", `${folder}-0`], place);
  const state = (name) => ["--state", `${folder}-${name}`];
  const upload = ["ingest", "docs", "--root", folder, "--cc-pair-id", "2", "--quiet"];
  const claim = workers > 0 ? ["--claim", "--run", "scale"] : [];
  const counters = async () => (workers > 0 ? await countersOf(url) : {});
  const [before, used, begun] = [await counters(), processorSeconds("self"), performance.now()];
  const all = Array.from({ length: Math.max(1, workers) }, (_, n) => n);
  const ran = await Promise.all(all.map((n) => runTool([...upload, ...claim, ...state(n)], place)));
  const seconds = (performance.now() - begun) / 1000;
  const cpu = processorSeconds("self") - used;
  const after = await counters();
  const later = await runTool([...upload, ...state(workers > 0 ? "later" : 0)], place);
  const each = (name, factor = 1, digits = 1) => {
    const value = (factor * (after[name] - before[name])) / documents;
    return Number.isNaN(value) ? undefined : rounded(value, digits);
  };
  console.log(
    JSON.stringify({
      documents,
      workers,
      latencyMs,
      seconds: rounded(seconds),
      perSecond: Math.round(documents / seconds),
      cpuMs: rounded((1000 * cpu) / documents, 100),
      megabytes: Math.round(Math.max(...ran.map(({ megabytes }) => megabytes))),
      databaseCpuMs: each("seconds", 1000, 100),
      rows: after.rows === undefined ? undefined : after.rows - before.rows,
      bytesEach: each("bytes"),
      walEach: each("wal"),
      commitsPer1000: each("commits", 1000),
      laterSeconds: rounded(later.seconds),
      laterMegabytes: Math.round(later.megabytes),
    }),
  );
  for (const name of [...all, "later"])
    rmSync(`${folder}-${name}`, { recursive: true, force: true });
}

await withService(startDatabase(), async (database) => {
  for (const documents of sizes) {
    const folder = mkdtempSync(join(tmpdir(), "knowctl-scale-"));
    try {
      writeDocuments(folder, documents);
      await withService(startIngestionReceiver(folder, latencyMs), async (service) => {
        for (const workers of counts) {
          await measure({ folder, documents, workers, service, database });
        }
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
});
