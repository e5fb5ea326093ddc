import {
  parseSharedUrl,
  type SharedAddress,
  type SharedDatabase,
  type SharedMachine,
} from "./address.ts";

/** Opens connections of one kind of database. */
type Engine = (address: SharedAddress, machine: SharedMachine) => Promise<SharedDatabase>;

const postgres: Engine = async (address, machine) =>
  await (await import("./postgres.ts")).openPostgres(address, machine);

/**
 * By scheme. Another engine is a line here and one file beside postgres.ts, loaded on demand, as long
 * as it takes the statements of PostgreSQL: they stand in tables, push, fetch, record, runs and claims.
 */
const engines: Readonly<Record<string, Engine>> = {
  "postgres:": postgres,
  "postgresql:": postgres,
};

/**
 * Opens the shared record at a URL. Throws CliError: `usage` for a wrong URL, `auth`, `unreachable`,
 * `local`, see sharedFailure(). The caller closes it.
 */
export async function connectShared(text: string, machine: SharedMachine): Promise<SharedDatabase> {
  const address = parseSharedUrl(text);
  const engine = engines[address.scheme] ?? postgres;
  return await engine(address, machine);
}
