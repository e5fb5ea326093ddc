import type { ConnectorStatus, IdentifiedConnector } from "../../api/schemas.ts";
import { nearest } from "../../nearest.ts";
import { CliError } from "../../errors.ts";

/** Most candidates in an error. */
const maxCandidates = 10;

/** Names are in JSON quotes, so that trailing spaces and odd characters are visible. */
function describe(record: ConnectorStatus): string {
  const name =
    record.name === null || record.name === undefined ? "—" : JSON.stringify(record.name);
  return `${record.cc_pair_id ?? "—"}  ${name}  ${record.connector?.source ?? "—"}`;
}

function describeAll(records: readonly ConnectorStatus[]): string[] {
  const lines = records.slice(0, maxCandidates).map(describe);
  const more = records.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/** Connectors whose name contains the text or differs by a typo. */
function findNear(records: readonly ConnectorStatus[], name: string): ConnectorStatus[] {
  const wanted = name.toLowerCase();
  const names = records.flatMap((record) => (record.name ? [record.name] : []));
  const typo = nearest(name, names);
  return records.filter((record) => {
    if (!record.name) return false;
    return record.name === typo || (wanted !== "" && record.name.toLowerCase().includes(wanted));
  });
}

function createNotFound(
  records: readonly ConnectorStatus[],
  name: string,
  source: string | undefined,
): CliError {
  const near = findNear(records, name);
  const where = source === undefined ? "" : ` with source ${source}`;
  return new CliError("not-found", `no connector is named ${JSON.stringify(name)}${where}`, {
    details: near.length > 0 ? ["did you mean:", ...describeAll(near)] : [],
    hints: [
      near.length > 0
        ? "use the whole name or the cc_pair_id"
        : "`knowctl connectors list` shows all names",
    ],
  });
}

function createAmbiguous(found: readonly ConnectorStatus[], name: string): CliError {
  const sources = new Set(found.map((record) => record.connector?.source));
  return new CliError("not-found", `${found.length} connectors are named ${JSON.stringify(name)}`, {
    details: describeAll(found),
    hints: [
      sources.size > 1 ? "use the cc_pair_id, or select one with --source" : "use the cc_pair_id",
    ],
  });
}

const isIdentified = (record: ConnectorStatus): record is IdentifiedConnector =>
  record.cc_pair_id !== null;

/**
 * The one connector with this name, optionally of one source.
 *
 * | exact matches | matches ignoring case | result                     |
 * |---------------|-----------------------|----------------------------|
 * | 1             | any                   | the exact one              |
 * | several       | any                   | CliError `not-found`       |
 * | 0             | 1                     | that one                   |
 * | 0             | several or 0          | CliError `not-found`       |
 *
 * A record without a readable id is CliError `server-error`.
 *
 * A partial name never matches: the id found here may become
 * the target of an upload. The error lists the candidates.
 */
export function findConnector(
  records: readonly ConnectorStatus[],
  name: string,
  source?: string,
): IdentifiedConnector {
  const eligible =
    source === undefined
      ? records
      : records.filter((record) => record.connector?.source === source);
  // Some systems type é as two characters.
  const wanted = name.normalize("NFC");
  const named = (same: (other: string) => boolean): ConnectorStatus[] =>
    eligible.filter(
      (record) => typeof record.name === "string" && same(record.name.normalize("NFC")),
    );
  const exact = named((other) => other === wanted);
  const lower = wanted.toLowerCase();
  const found = exact.length > 0 ? exact : named((other) => other.toLowerCase() === lower);
  const [only] = found;
  if (!only) throw createNotFound(eligible, name, source);
  if (found.length > 1) throw createAmbiguous(found, name);
  if (!isIdentified(only)) {
    throw new CliError("server-error", `the record of ${JSON.stringify(name)} has no cc_pair_id`, {
      hints: ["use --cc-pair-id with the number in the address of the connector's page"],
    });
  }
  return only;
}

/**
 * The connector with this `cc_pair_id`, optionally of one source. Throws CliError `not-found` if
 * there is none, or if it has another source.
 */
export function findConnectorById(
  records: readonly ConnectorStatus[],
  id: number,
  source?: string,
): IdentifiedConnector {
  const found = records.filter(isIdentified).find((record) => record.cc_pair_id === id);
  const actual = found?.connector?.source;
  if (found && (source === undefined || source === actual)) return found;
  if (found) {
    throw new CliError("not-found", `pair ${id} is of source ${actual}, not ${source}`, {
      hints: ["leave out --source: the id already identifies one connector"],
    });
  }
  throw new CliError("not-found", `there is no pair ${id}`, {
    hints: ["`knowctl connectors list` shows all of them"],
  });
}
