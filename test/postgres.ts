import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { patienceMs } from "./patience.ts";

// A PostgreSQL of the tests' own: a cluster in a temporary folder, on a socket in it.

function hasPrograms(folder: string): boolean {
  return ["initdb", "postgres", "psql"].every((name) => existsSync(join(folder, name)));
}

/** The folder of initdb, postgres and psql: in PATH, else the newest of Debian's; undefined without. */
function findPostgres(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const newest = versions.toSorted((a, b) => Number(b) - Number(a));
  const inPath = (process.env["PATH"] ?? "").split(delimiter).filter(Boolean);
  return [...newest.map((version) => join(debian, version, "bin")), ...inPath].find(hasPrograms);
}

/** For `describe.runIf`, under a title that names PostgreSQL. */
export const hasPostgres = process.platform !== "win32" && findPostgres() !== undefined;

export interface PostgresServer {
  /** Below it stand the socket and the server's log. */
  folder: string;
  /** Of the role `knowctl`, which may do everything; over TCP with its password where that was asked for. */
  url(database: string): string;
  /** Runs one statement as `knowctl`; rows of columns separated by tabs. Throws what the server says. */
  sql(database: string, statement: string): string;
  /** Ends the server; SIGQUIT as a crash does, without a word to its clients. */
  stop(signal?: "SIGINT" | "SIGQUIT"): Promise<void>;
  /** Starts it again at the same address; nothing where it runs. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

interface PostgresOptions {
  /** Listen on a port of 127.0.0.1 as well, for which a password is needed. */
  tcp?: boolean;
  /** Of postgresql.conf, such as `max_connections`. */
  settings?: Record<string, string | number>;
}

interface User {
  uid?: number;
  gid?: number;
}

let known: User | undefined;

/** PostgreSQL refuses to run as root. */
function unprivileged(): User {
  if (process.getuid?.() !== 0) return {};
  if (known !== undefined) return known;
  const idOf = (option: string): number | undefined => {
    const found = ["postgres", "nobody"].map((user) => spawnSync("id", [option, user]));
    const known = found.find(({ status }) => status === 0);
    return known && Number(known.stdout.toString());
  };
  return (known = { uid: idOf("-u") ?? 65_534, gid: idOf("-g") ?? 65_534 });
}

/** A port of 127.0.0.1 that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

const password = "knowctl-tests";

/** Without waits for the disk: nothing here outlives the machine. */
function settingsOf(folder: string, port: number | undefined, more: PostgresOptions["settings"]) {
  const all = {
    unix_socket_directories: folder,
    listen_addresses: port === undefined ? "" : "127.0.0.1",
    port: port ?? 5432,
    fsync: "off",
    full_page_writes: "off",
    shared_buffers: "32MB",
    log_min_messages: "log",
    ...more,
  };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/**
 * Ends the server and removes its folder when this process is gone, however it ended: the pipe
 * closes then.
 */
function startReaper(folder: string): void {
  const script = `
    read -r _
    pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
    while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    rm -rf "$1"`;
  const reaper = spawn("sh", ["-c", script, "reaper", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  reaper.unref();
  (reaper.stdin as unknown as { unref(): void }).unref();
}

/** A folder that PostgreSQL may use, which goes when this process does. */
function makeFolder({ uid, gid }: User): string {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-pg-"));
  if (uid !== undefined) chownSync(folder, uid, gid!);
  // Clients of any user reach the socket.
  chmodSync(folder, 0o755);
  startReaper(folder);
  return folder;
}

let cluster: string | undefined;

/** A cluster as initdb makes it, to copy: to make one takes ten times as long. */
function emptyCluster(programs: string, user: User): string {
  if (cluster !== undefined) return cluster;
  const folder = makeFolder(user);
  const data = join(folder, "data");
  const secret = join(folder, "password");
  writeFileSync(secret, password);
  const own = ["--locale=C", "--encoding=UTF8", "--username=knowctl", `--pwfile=${secret}`];
  const access = ["--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"];
  execFileSync(join(programs, "initdb"), [...own, ...access, "-D", data], {
    ...user,
    cwd: folder,
    stdio: "pipe",
  });
  return (cluster = data);
}

/** Starts a server of its own, for tests with other settings than `newDatabase` has; `close` it. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres()!;
  const user = unprivileged();
  const folder = makeFolder(user);
  const data = join(folder, "data");
  execFileSync("cp", ["-a", emptyCluster(programs, user), data]);
  const port = options.tcp ? await freePort() : undefined;
  const log = join(folder, "log");
  const pidFile = join(data, "postmaster.pid");
  let server: ReturnType<typeof spawn> | undefined;
  const isRunning = (): boolean => server?.exitCode === null && server.signalCode === null;

  async function start(): Promise<void> {
    if (isRunning()) return;
    const output = openSync(log, "a");
    const args = ["-D", data, ...settingsOf(folder, port, options.settings)];
    server = spawn(join(programs, "postgres"), args, {
      ...user,
      cwd: folder,
      stdio: ["ignore", output, output],
      detached: true,
    });
    server.unref();
    const last = Date.now() + patienceMs;
    // The last line of this file is the state of the server.
    const isReady = (): boolean =>
      existsSync(pidFile) && /^ready\s*$/m.test(readFileSync(pidFile, "utf8"));
    while (!isReady()) {
      if (!isRunning() || Date.now() > last) {
        throw new Error(`PostgreSQL does not start: ${readFileSync(log, "utf8")}`);
      }
      await wait(10);
    }
  }

  async function stop(signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> {
    if (!isRunning()) return;
    const ended = new Promise((done) => server!.once("exit", done));
    server!.ref();
    server!.kill(signal);
    await ended;
  }

  await start();
  return {
    folder,
    url: (database) =>
      port === undefined
        ? `postgres://knowctl@localhost/${database}?host=${encodeURIComponent(folder)}`
        : `postgres://knowctl:${password}@127.0.0.1:${port}/${database}`,
    sql(database, statement) {
      const format = ["-X", "-A", "-t", "-q", "-F", "\t", "-v", "ON_ERROR_STOP=1"];
      const place = ["-h", folder, "-p", String(port ?? 5432), "-U", "knowctl", "-d", database];
      return execFileSync(join(programs, "psql"), [...format, ...place, "-c", statement], {
        encoding: "utf8",
        stdio: "pipe",
      }).trimEnd();
    },
    start,
    stop,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<PostgresServer> | undefined;
let databases = 0;
let strategy: string | undefined;

/** Copies the files of an empty database: since version 15 PostgreSQL copies it row by row otherwise. */
async function fastestStrategy(client: Client): Promise<string> {
  const { rows } = await client.query<{ version: string }>(
    "select current_setting('server_version_num') as version",
  );
  return Number(rows[0]!.version) >= 150_000 ? "strategy file_copy" : "";
}

/** An empty database and its server, which the tests of this process share. */
interface Database {
  url: string;
  sql(statement: string): string;
  server: PostgresServer;
}

/**
 * An empty database of the server that this process has for its tests. The first call starts the
 * server, which ends with the process; a server that a test has stopped is started again.
 */
export async function newDatabase(): Promise<Database> {
  shared ??= startPostgres();
  const server = await shared;
  await server.start();
  const name = `test_${(databases += 1)}`;
  const client = new Client({ connectionString: server.url("postgres") });
  await client.connect();
  strategy ??= await fastestStrategy(client);
  await client.query(`create database ${name} ${strategy}`);
  await client.end();
  return { url: server.url(name), sql: (statement) => server.sql(name, statement), server };
}
