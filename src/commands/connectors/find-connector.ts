import type { ConnectorStatus, IdentifiedConnector } from "../../api/schemas.ts";
import { nearest } from "../../config/values/nearest.ts";
import { CliError } from "../../errors.ts";

/** More candidates than this are no help. */
const mostCandidates = 10;

/** Names in JSON quotes: a space at the end or an odd character must be seen. */
function describe(record: ConnectorStatus): string {
  const name =
    record.name === null || record.name === undefined ? "—" : JSON.stringify(record.name);
  return `${record.cc_pair_id ?? "—"}  ${name}  ${record.connector?.source ?? "—"}`;
}

function describeAll(records: readonly ConnectorStatus[]): string[] {
  const lines = records.slice(0, mostCandidates).map(describe);
  const more = records.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/** Those that contain the name or are a typing mistake away: what was perhaps meant. */
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
        ? "give the whole name or the cc_pair_id"
        : "`knowctl connectors list` shows all names",
    ],
  });
}

function createAmbiguous(found: readonly ConnectorStatus[], name: string): CliError {
  const sources = new Set(found.map((record) => record.connector?.source));
  return new CliError("not-found", `${found.length} connectors are named ${JSON.stringify(name)}`, {
    details: describeAll(found),
    hints: [
      sources.size > 1
        ? "give the cc_pair_id, or narrow the choice with --source"
        : "give the cc_pair_id",
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
 * A part of a name is never taken for the name: the id found here may become
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
  // A name may be typed on a system that writes é as two characters.
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
      hints: ["see the number in the address of the connector's page, and give --cc-pair-id"],
    });
  }
  return only;
}

/**
 * The connector with this `cc_pair_id`, optionally of one source. Throws CliError `not-found` where
 * there is none, or one of another source.
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
    throw new CliError("not-found", `cc_pair_id ${id} is of source ${actual}, not ${source}`, {
      hints: ["leave --source out: the id names one connector already"],
    });
  }
  throw new CliError("not-found", `no connector has the cc_pair_id ${id}`, {
    hints: ["`knowctl connectors list` shows all of them"],
  });
}
