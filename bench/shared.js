import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { figure, measurePair, plainEnvironment, runOnce } from "./pair.js";
import { startIngestionReceiver, withService } from "./service.js";

const debian = "/usr/lib/postgresql";
const programs = existsSync(debian)
  ? join(debian, readdirSync(debian).toSorted((a, b) => b - a)[0] ?? "", "bin")
  : undefined;

/** PostgreSQL refuses to run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {};
  const idOf = (option) => Number(spawnSync("id", [option, "postgres"]).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Starts a PostgreSQL on a socket in a folder, with the settings that it comes with. */
export async function startDatabase() {
  const folder = mkdtempSync("/tmp/knowctl-bench-pg-");
  const user = unprivileged();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  const data = join(folder, "data");
  const options = { ...user, cwd: folder, stdio: "ignore" };
  const cluster = ["-U", "knowctl", "--auth=trust", "--locale=C", "--encoding=UTF8"];
  execFileSync(join(programs, "initdb"), [...cluster, "-D", data], options);
  const settings = ["-c", `unix_socket_directories=${folder}`, "-c", "listen_addresses="];
  const server = spawn(join(programs, "postgres"), ["-D", data, ...settings], options);
  const client = ["-h", folder, "-U", "knowctl", "-q"];
  const psql = (database, statement) =>
    spawnSync(join(programs, "psql"), [...client, "-d", database, "-c", statement]).status === 0;
  while (server.exitCode === null && !psql("postgres", "select 1")) spawnSync("sleep", ["0.1"]);
  return {
    /** Empties the database. */
    reset() {
      psql("postgres", "drop database if exists bench with (force)");
      if (!psql("postgres", "create database bench")) throw new Error("no database was created");
    },
    env: {
      KNOWCTL_SHARED_STATE: `postgres://knowctl@localhost/bench?host=${encodeURIComponent(folder)}`,
      KNOWCTL_STATE_PROJECT: "bench",
    },
    async stop() {
      const ended = new Promise((done) => server.once("exit", done));
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a row with a service of this latency and a database; says so where PostgreSQL is missing. */
async function withDatabase(folder, latencyMs, use) {
  if (programs === undefined) return "skipped: PostgreSQL is not installed";
  return await withService(startDatabase(), (database) =>
    withService(startIngestionReceiver(folder, latencyMs), (service) => use(database, service)),
  );
}

const upload = (binary, state, ...more) =>
  [binary, "ingest", ".", "--cc-pair-id", "2", "--quiet", "--state", state].concat(more);

/** A first upload with a shared record against one without. */
export const sharedRow = {
  name: "shared-record",
  run: ({ binary, corpora, folder }, files = 5000) =>
    withDatabase(folder, 20, (database, service) => {
      const cwd = corpora({ files: Number(files), folders: 50, bytes: 4096 });
      const state = join(folder, "state-of-shared");
      const empty = () => rmSync(state, { recursive: true, force: true });
      const args = upload(binary, state, "--concurrency", "16");
      const shared = { ...service.env, ...database.env };
      const share = {
        args: [binary, "state", "share", "--yes", "--state", state],
        cwd,
        env: shared,
      };
      const before = () => {
        empty();
        database.reset();
        runOnce(share);
      };
      const measured = measurePair(
        { args, cwd, env: shared, before },
        { args, cwd, env: service.env, before: empty },
        3,
        { warmUp: false },
      )("ms");
      return `20 ms: ${figure(measured.ratio, 2)} of the time of a run without, at most 1.15; ${figure(measured.subject, 0)} ms against ${figure(measured.against, 0)} ms`;
    }),
};

/** Seconds that so many workers take together, as processes that begin at once. */
async function measureWorkers(count, { cwd, env, folder, binary }) {
  const startedAt = performance.now();
  const codes = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const state = join(folder, `worker-${index}`);
      rmSync(state, { recursive: true, force: true });
      const more = ["--concurrency", "4", "--claim", "--run", `of-${count}`];
      const child = spawn(process.execPath, upload(binary, state, ...more), {
        cwd,
        env: { ...plainEnvironment, ...env },
        stdio: "ignore",
      });
      return new Promise((done) => child.once("exit", done));
    }),
  );
  if (codes.some((code) => code !== 0)) throw new Error(`workers ended with ${codes.join(", ")}`);
  return (performance.now() - startedAt) / 1000;
}

const bounds = [
  [2, 1.8],
  [4, 3.2],
  [8, 5],
];

/** Workers with --claim against one of them. */
export const workersRow = {
  name: "claiming-workers",
  run: ({ binary, corpora, folder }, files = 2000) =>
    withDatabase(folder, 100, async (database, service) => {
      const cwd = corpora({ files: Number(files), folders: 20, bytes: 4096 });
      const env = { ...service.env, ...database.env };
      const state = join(folder, "state-of-sharer");
      const measure = (count) => {
        rmSync(state, { recursive: true, force: true });
        database.reset();
        runOnce({ args: [binary, "state", "share", "--yes", "--state", state], cwd, env });
        return measureWorkers(count, { cwd, env, folder, binary });
      };
      const one = await measure(1);
      const lines = [];
      for (const [count, must] of bounds) {
        const seconds = await measure(count);
        lines.push(
          `${count} workers, 100 ms: ${(one / seconds).toFixed(2)} times as fast as one, at least ${must}; ${seconds.toFixed(1)} s against ${one.toFixed(1)} s`,
        );
      }
      return lines.join("\n");
    }),
};
