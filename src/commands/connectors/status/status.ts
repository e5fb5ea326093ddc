import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { checkFormat, checkSelection, writeList } from "../../../output/formats/formats.ts";
import { whileWaiting } from "../../../output/terminal/waiting.ts";
import { connect, type Connected } from "../../connect.ts";
import { readStatus } from "./read.ts";
import { createColumns, sampleRow, type StatusRow } from "./rows.ts";

interface ConnectorsStatusOptions extends GlobalFlags {
  /** Seconds between two polls. */
  watch?: number;
}

/** Caches the names for completion, after the output, so that nobody waits for it. */
async function rememberRows(
  context: Context,
  connected: Connected,
  rows: readonly StatusRow[],
): Promise<void> {
  const { rememberNames } = await import("../../completion/remember-names.ts");
  const names = rows.flatMap(({ ccPairId: id, name, source }) =>
    id === null ? [] : [{ id, name: name ?? "", text: source ?? "" }],
  );
  rememberNames(context, "connectors", connected, names);
}

/**
 * `connectors status [ID|NAME…]`: what the service knows about the named connectors, or all.
 * Rows that lack something because a request was refused are written before that error is
 * thrown.
 */
export async function connectorsStatus(
  context: Context,
  wanted: string[],
  options: ConnectorsStatusOptions,
): Promise<void> {
  checkFormat(options);
  if (options.watch !== undefined) {
    const { watchStatus } = await import("./watch.ts");
    return await watchStatus(context, wanted, options, options.watch);
  }
  const now = (): number => context.now();
  checkSelection(options, createColumns(now, { hasStatus: true, hasQueue: true }), sampleRow);
  const connected = await connect(context, options);
  const { client, output, connection } = connected;
  try {
    const label = `waiting for the connectors of ${connection.baseUrl}`;
    const status = await whileWaiting(output, label, () => readStatus(client, { wanted }));
    const { rows, hasStatus, missing, refused } = status;
    const columns = createColumns(now, { hasStatus, hasQueue: wanted.length > 0 });
    const count = await writeList(output, options, columns, rows);
    if (count === 0) {
      await output.note(rows.length === 0 ? "there are no connectors" : "no connectors match");
    }
    for (const line of missing) await output.note(line);
    if (wanted.length === 0) await rememberRows(context, connected, rows);
    if (refused) throw refused;
  } finally {
    await client.close();
  }
}
