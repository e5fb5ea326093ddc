import { CliError, codeOf, messageOf } from "../../errors.ts";

/** A row of a result, by column. */
export type SharedRow = Readonly<Record<string, unknown>>;

/** Runs one statement with `$1`, `$2`, … Throws CliError, see sharedFailure(). */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<SharedRow[]>;

/** One connection to the database of a shared record. It is opened again after a failure. */
export interface SharedDatabase {
  query: Query;
  /**
   * Runs `work` in one transaction; no other statement of this connection comes between. Rolls back
   * and rethrows when it throws.
   */
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  /** Runs a statement now, and again on each new connection: a lock of the session. */
  hold: Query;
  close(): Promise<void>;
}

/** Where a database is. `host` is a folder (`/run/postgresql`) for a Unix socket. */
export interface SharedAddress {
  scheme: string;
  host: string;
  port: number;
  database: string;
  user: string | undefined;
  /** Never part of a message. */
  password: string | undefined;
  /** `sslmode` and the other parameters of the URL, as libpq names them. */
  parameters: ReadonlyMap<string, string>;
  /** `host:port/database`, for messages. */
  place: string;
}

/** What an engine needs of the machine. */
export interface SharedMachine {
  env: Readonly<Record<string, string | undefined>>;
  /** Id of the user; -1 where users have none. */
  uid: number;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  random: () => number;
  signal: AbortSignal;
}

/** Port by scheme: `engines` of connect.ts has the same schemes. */
const defaultPorts: Readonly<Record<string, number>> = { "postgres:": 5432, "postgresql:": 5432 };

const example = "postgres://user@db.example.com/knowctl?sslmode=verify-full";

const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

function invalidUrl(problem: string): CliError {
  return new CliError("usage", `the address of the shared record ${problem}`, {
    hints: [`write it like ${example}`],
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUrl("has an invalid percent-encoding");
  }
}

/** The URL in a text. libpq allows no host beside a user: postgres://user@/database?host=/run. */
function urlIn(text: string): URL | undefined {
  const named = text.replace(/^(\w+:\/\/[^/?#]*@)(?=[:/?]|$)/, "$1localhost");
  return URL.canParse(named) ? new URL(named) : undefined;
}

/**
 * Parses the URL of a shared record: `postgres://user@host:port/database?sslmode=…`; `host` and `port`
 * may be parameters (libpq, 34.1.1.2), so that a Unix socket can be named. Throws CliError `usage`
 * without a part of the URL in its message.
 */
export function parseSharedUrl(text: string): SharedAddress {
  // A URL of Node lacks neither host nor path; libpq allows both: postgres:///database?host=/run.
  const url = urlIn(text);
  if (!url) throw invalidUrl("is not a URL");
  const defaultPort = defaultPorts[url.protocol];
  if (defaultPort === undefined) throw invalidUrl("must begin with postgres://");
  const parameters = new Map(url.searchParams);
  const mode = parameters.get("sslmode") ?? "prefer";
  if (!modes.includes(mode)) throw invalidUrl(`has an unknown sslmode; known: ${modes.join(", ")}`);
  const database = decoded(url.pathname.slice(1)) || (parameters.get("dbname") ?? "");
  if (database === "" || database.includes("/")) throw invalidUrl("names no database");
  const host =
    parameters.get("host") ?? (decoded(url.hostname).replace(/^\[|\]$/g, "") || "localhost");
  const port = Number(parameters.get("port") ?? (url.port || defaultPort));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalidUrl("has an invalid port");
  const user = decoded(url.username) || parameters.get("user");
  const password = decoded(url.password) || parameters.get("password");
  const place = `${host}:${port}/${database}`;
  return { scheme: url.protocol, host, port, database, user, password, parameters, place };
}

/** The texts in a URL that no output may have: the URL, and its password as written and decoded. */
export function sharedSecrets(text: string): string[] {
  const url = urlIn(text);
  if (!url) return [text];
  const written = url.password;
  const { password = "" } = parseSharedUrl(text);
  return [text, written, password].filter((each) => each !== "");
}

/** Whether a URL holds a password: it must not stand in an argument. In doubt it does. */
export function holdsPassword(text: string): boolean {
  const rest = text.replace(/^\w+:\/\//, "");
  return /:[^@]*@/.test(rest) || /[?&]password=/.test(rest);
}

type Failure = readonly [exit: CliError["exit"], what: string, hint: string];

const again =
  "check the address and the network; an upload can go on with the local state: --offline-state";
const changed: Failure = [
  "local",
  "its tables are not as knowctl made them",
  "another program changed them: restore the database, or share into a new one and run `knowctl state push --all`",
];

/** Failures by SQLSTATE, or by its class of two characters (PostgreSQL, appendix A). */
const failures: Readonly<Record<string, Failure>> = {
  "28": [
    "auth",
    "it refuses the user or the password",
    "check user and password of the URL, or the passfile",
  ],
  "42501": [
    "auth",
    "the role lacks a right",
    "grant the role the rights on the tables knowctl_…; `state share` needs CREATE in the schema",
  ],
  "3D000": [
    "usage",
    "there is no such database",
    "check the name at the end of the URL, or create it: createdb NAME",
  ],
  "08": ["unreachable", "the connection broke", again],
  "53300": [
    "unreachable",
    "it has no connection left",
    "run fewer workers, raise max_connections, or use a pooler in session mode",
  ],
  "57": ["unreachable", "it is stopping or starting", again],
  "53": [
    "local",
    "it has no room left",
    "free disk or memory of the database, then run `knowctl state push`",
  ],
  "58": ["local", "its disk failed", "check the database, then run `knowctl state push`"],
  "25006": ["local", "it is read-only", "name the primary server, not a standby"],
  "55P03": ["local", "another run holds a lock", "wait for that run, or check whether it hangs"],
  "40": ["local", "another run holds a lock", "run the command again"],
  "42": changed,
  "23": changed,
};

/**
 * Converts an error of a database. Its SQLSTATE decides; without one no answer came, so it is
 * `unreachable`. The message names the place, never the URL.
 */
export function sharedFailure(place: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const code = codeOf(error) ?? "";
  const isState = /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("E");
  const isPassword = /\bpassword\b/i.test(messageOf(error)) && !isState;
  const known = isPassword ? failures["28"] : (failures[code] ?? failures[code.slice(0, 2)]);
  const fallback: Failure = isState
    ? ["server-error", "it refuses a statement", "check the version of the database: 12 or newer"]
    : ["unreachable", "cannot be reached", again];
  const [exit, what, hint] = (isState || isPassword ? known : undefined) ?? fallback;
  const why = messageOf(error) || code;
  return new CliError(exit, `the shared record at ${place}: ${what}: ${why}`, {
    hints: [hint],
    cause: error,
  });
}
