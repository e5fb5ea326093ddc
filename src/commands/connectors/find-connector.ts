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

/** The error for a name that no record has; its details are the connectors with a similar name. */
function createNotFound(
  records: readonly ConnectorStatus[],
  name: string,
  source: string | undefined,
): CliError {
  const lower = name.toLowerCase();
  // Also a long word of a name: of `Handbook uploads` people type `Handbok`.
  const wordsOf = (other: string): string[] => [other, ...(other.match(/[^\s/]{5,}/g) ?? [])];
  const typo = nearest(
    name,
    records.flatMap((record) => wordsOf(record.name ?? "")),
  );
  const near = records.filter(({ name: other }) => {
    if (!other) return false;
    const isTypo = typo !== undefined && wordsOf(other).includes(typo);
    return isTypo || (lower !== "" && other.toLowerCase().includes(lower));
  });
  const where = source === undefined ? "" : ` with source ${source}`;
  const isNear = near.length > 0;
  const id = /^(?:https?:\/\/\S*\/)?(\d{1,10})$/.exec(name)?.[1];
  return new CliError("not-found", `no connector is named ${JSON.stringify(name)}${where}`, {
    details: isNear ? ["did you mean:", ...describeAll(near)] : [],
    hints: [
      // A number, or the address of the connector's admin page.
      ...(id === undefined ? [] : [`if ${id} is its id: --cc-pair-id ${id}, or the number alone`]),
      isNear ? "use the whole name or the cc_pair_id" : "`knowctl connectors list` shows all names",
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

/** Whether a record has this name. Some systems type é as two characters. */
export function hasName(record: { name?: string | null | undefined }, name: string): boolean {
  return record.name?.normalize("NFC") === name.normalize("NFC");
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
  const eligible = records.filter(
    (record) => source === undefined || record.connector?.source === source,
  );
  const exact = eligible.filter((record) => hasName(record, name));
  const lower = name.toLowerCase();
  const found =
    exact.length > 0
      ? exact
      : eligible.filter(({ name: other }) => hasName({ name: other?.toLowerCase() }, lower));
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

/** Whether an argument is a `cc_pair_id`; else it is a name. */
export const isId = (text: string): boolean => /^\d{1,15}$/.test(text);
