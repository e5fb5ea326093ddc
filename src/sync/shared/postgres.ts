import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { Client, type ClientConfig } from "pg";
import { CliError, codeOf, fileProblem, messageOf } from "../../errors.ts";
import {
  sharedFailure,
  type Query,
  type SharedAddress,
  type SharedDatabase,
  type SharedMachine,
} from "./address.ts";

const readFile = (path: string, what: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError("usage", `cannot read ${what} ${path}: ${fileProblem(codeOf(error))}`, {
      hints: ["check the parameter of the URL of the shared record"],
      cause: error,
    });
  }
};

/**
 * What libpq does for each `sslmode` (PostgreSQL, 34.19):
 *
 * | sslmode          | TLS                    | certificate                               |
 * |------------------|------------------------|-------------------------------------------|
 * | disable          | no                     |                                           |
 * | allow, prefer    | where the server has it | not checked                               |
 * | require          | yes                    | checked only with sslrootcert, as verify-ca |
 * | verify-ca        | yes                    | by authority                              |
 * | verify-full      | yes                    | by authority and name                     |
 *
 * A Unix socket has none. Without `sslrootcert` the authorities are those of Node.
 */
function tlsOf({ host, parameters }: SharedAddress): ConnectionOptions | undefined {
  const mode = parameters.get("sslmode") ?? "prefer";
  if (mode === "disable" || host.startsWith("/")) return undefined;
  const [root, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((each) =>
    parameters.get(each),
  );
  const isChecked = mode.startsWith("verify") || (mode === "require" && root !== undefined);
  return {
    rejectUnauthorized: isChecked,
    ...(root !== undefined && root !== "system" && { ca: readFile(root, "sslrootcert") }),
    ...(cert !== undefined && { cert: readFile(cert, "sslcert") }),
    ...(key !== undefined && { key: readFile(key, "sslkey") }),
    ...(mode !== "verify-full" && { checkServerIdentity: () => undefined }),
  };
}

/** The fields of a line of a passfile: `:` separates them, `\` escapes (PostgreSQL, 34.16). */
function fieldsOf(line: string): string[] {
  const fields = line.match(/(?:[^\\:]|\\.)*(?::|$)/g) ?? [];
  return fields.map((each) => each.replace(/:$/, "").replace(/\\(.)/g, "$1"));
}

/** The password in a passfile; undefined where none fits. Throws CliError `auth` for a file that others may read. */
function passfilePassword(address: SharedAddress, machine: SharedMachine): string | undefined {
  const { parameters, host, port, database, user = "" } = address;
  const { env, uid } = machine;
  const home = env["HOME"] ?? env["USERPROFILE"] ?? "";
  const path = parameters.get("passfile") ?? env["PGPASSFILE"] ?? join(home, ".pgpass");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  if (uid >= 0 && (stats.mode & 0o077) !== 0) {
    throw new CliError("auth", `other users can read the passfile ${path}: not used`, {
      hints: [`chmod 600 ${path}`],
    });
  }
  const names = [host.startsWith("/") ? "localhost" : host, String(port), database, user];
  for (const line of readFile(path, "the passfile").split(/\r?\n/)) {
    const fields = line.startsWith("#") ? [] : fieldsOf(line);
    const fits = names.every((name, index) => fields[index] === "*" || fields[index] === name);
    if (fits && fields.length > 4) return fields[4];
  }
  return undefined;
}

const connectMs = 10_000;
/** No statement takes this long; a server that says nothing for so long is gone. */
const statementMs = 60_000;

function clientConfig(
  address: SharedAddress,
  machine: SharedMachine,
  ssl: ConnectionOptions | undefined,
): ClientConfig {
  const { host, port, database, parameters } = address;
  const { env } = machine;
  const user = address.user ?? env["PGUSER"] ?? env["USER"] ?? env["USERNAME"];
  const seconds = Number(parameters.get("connect_timeout") ?? 0);
  const options = parameters.get("options");
  return {
    host,
    port,
    database,
    // Never undefined: the library would read files and variables of its own.
    password: () =>
      address.password ??
      env["PGPASSWORD"] ??
      passfilePassword({ ...address, user }, machine) ??
      "",
    ssl: ssl === undefined ? false : { ...ssl, ...(!isIP(host) && { servername: host }) },
    application_name: parameters.get("application_name") ?? "knowctl",
    connectionTimeoutMillis: seconds > 0 ? seconds * 1000 : connectMs,
    query_timeout: statementMs,
    lock_timeout: statementMs / 2,
    // A worker that hangs must not hold the lock of the project for long.
    idle_in_transaction_session_timeout: statementMs,
    keepAlive: true,
    ...(user !== undefined && { user }),
    ...(options !== undefined && { options }),
  };
}

const withoutTls = /server does not support SSL/i;

/** Connects once. `allow` and `prefer` go on without TLS where the server has none. */
async function connectOnce(address: SharedAddress, machine: SharedMachine): Promise<Client> {
  const ssl = tlsOf(address);
  const open = async (tls: ConnectionOptions | undefined): Promise<Client> => {
    const client = new Client(clientConfig(address, machine, tls));
    // Without a listener, a connection that breaks between two statements would end the process.
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  };
  try {
    return await open(ssl);
  } catch (error) {
    const mayBePlain = ["allow", "prefer"].includes(address.parameters.get("sslmode") ?? "prefer");
    if (!ssl || !mayBePlain || !withoutTls.test(messageOf(error))) throw error;
    return await open(undefined);
  }
}

// too_many_connections, cannot_connect_now (PostgreSQL, appendix A): other workers end, a server starts.
const passing = new Set(["53300", "57P03"]);
const waitsMs = [200, 400, 800, 1600, 3200];

async function connect(address: SharedAddress, machine: SharedMachine): Promise<Client> {
  for (const waitMs of waitsMs) {
    try {
      return await connectOnce(address, machine);
    } catch (error) {
      if (!passing.has(codeOf(error) ?? "")) throw error;
      await machine.sleep(waitMs * (0.5 + machine.random()), machine.signal);
    }
  }
  return await connectOnce(address, machine);
}

/** Opens PostgreSQL at an address. Throws CliError, see sharedFailure(). */
export async function openPostgres(
  address: SharedAddress,
  machine: SharedMachine,
): Promise<SharedDatabase> {
  let client: Client | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const held: Parameters<Query>[] = [];
  const drop = (): void => {
    void client?.end().catch(() => {});
    client = undefined;
  };
  const reopen = async (): Promise<Client> => {
    const opened = await connect(address, machine);
    opened.once("end", () => {
      if (client === opened) client = undefined;
    });
    for (const [sql, values] of held) await opened.query(sql, values && [...values]);
    return opened;
  };
  const use = async <Result>(work: (query: Query) => Promise<Result>): Promise<Result> => {
    try {
      const current = (client ??= await reopen());
      return await work(async (sql, values) => {
        const { rows } = await current.query<Record<string, unknown>>(sql, values && [...values]);
        return rows;
      });
    } catch (error) {
      const failure = error instanceof CliError ? error : sharedFailure(address.place, error);
      if (failure.exit === "unreachable") drop();
      throw failure;
    }
  };
  /** One after the other: statements of a transaction are not mixed with others. */
  const alone = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  await alone(() => use(async () => {}));
  return {
    query: (sql, values) => alone(() => use((query) => query(sql, values))),
    transaction: (work) =>
      alone(() =>
        use(async (query) => {
          await query("BEGIN");
          try {
            const result = await work(query);
            await query("COMMIT");
            return result;
          } catch (error) {
            // The connection may be gone; its transaction is rolled back then.
            await query("ROLLBACK").catch(() => {});
            throw error;
          }
        }),
      ),
    async hold(sql, values) {
      const rows = await alone(() => use((query) => query(sql, values)));
      held.push([sql, values]);
      return rows;
    },
    async close() {
      await last;
      await client?.end().catch(() => {});
      client = undefined;
    },
  };
}
