import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import { canReadStatus, listPairErrors, type PairError } from "../../../api/pair-status.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { checkSelection, writeList, type Column } from "../../../output/formats/formats.ts";
import { relativeTime } from "../../../output/terminal/progress.ts";
import type { Named } from "../../completion/names.ts";
import { withConnection, rowsWhileAsking, whileAsking } from "../../connect.ts";
import { readResource, type Resource } from "../../resource.ts";
import { findConnector, isId } from "../find-connector.ts";
import { findPair, readStatus, statusColumns, type Status, type StatusRow } from "./read.ts";

const named = ({ ccPairId: id, name, source }: StatusRow): Named | undefined =>
  id === null ? undefined : { id, name: name ?? "", text: source ?? "" };

/**
 * `connectors status [ID|NAME…]`: what the service knows about the named connectors, or all.
 * Rows that lack something because a request was refused are written before that error is
 * thrown.
 */
export async function connectorsStatus(
  context: Context,
  wanted: string[],
  options: GlobalFlags & { watch?: number },
): Promise<void> {
  if (options.watch !== undefined) {
    const { watchStatus } = await import("./watch.ts");
    return await watchStatus(context, wanted, options, options.watch);
  }
  checkSelection(options, statusColumns(true, true));
  const isNamed = wanted.length > 0;
  let status: Status | undefined;
  const resource: Resource<StatusRow> = {
    name: "connectors",
    columns: [],
    list: async (client) => (status = await readStatus(client, wanted, context.now())).rows,
    // Completion offers all names.
    ...(isNamed ? {} : { named }),
  };
  await readResource(context, options, resource, async (rows, output) => {
    const { hasStatus = true, missing = [], refused } = status ?? {};
    const count = await writeList(output, options, statusColumns(hasStatus, isNamed), rows);
    if (count === 0) {
      await output.note(rows.length === 0 ? "there are no connectors" : "no connectors match");
    }
    for (const line of missing) await output.note(line);
    if (refused) throw refused;
  });
}

/** One document that a run of the connector could not index. */
interface ErrorRow {
  ccPairId: number;
  id: string | null;
  link: string | null;
  reason: string | null;
  failedAt: string | null;
  resolved: boolean | null;
}

function toRow(ccPairId: number, error: PairError): ErrorRow {
  return {
    ccPairId,
    // A run may fail on more than a document, for example a folder.
    id: error.document_id ?? error.entity_id ?? null,
    link: error.document_link ?? null,
    reason: error.failure_message || null,
    failedAt: error.time_created ?? null,
    resolved: error.is_resolved ?? null,
  };
}

/** The record of a pair. An unknown pair is an error: it has no errors. */
async function findTarget(client: Client, wanted: string) {
  if (isId(wanted)) return (await findPair(client, Number(wanted))).record;
  return findConnector(await listConnectors(client), wanted);
}

/** `connectors errors ID|NAME`: the documents that the runs of a connector could not index. */
export async function connectorsErrors(
  context: Context,
  [wanted = ""]: string[],
  options: GlobalFlags & { resolved?: boolean },
): Promise<void> {
  const { resolved = false } = options;
  const columns: Column<ErrorRow>[] = [
    { name: "id", cut: "start" },
    { name: "reason" },
    { name: "failedAt", show: relativeTime },
    { name: "resolved", shown: resolved },
    { name: "link", cut: "start", shown: false },
    { name: "ccPairId", align: "right", shown: false },
  ];
  checkSelection(options, columns);
  await withConnection(context, options, async (place) => {
    const { client, output } = place;
    if (!canReadStatus(client)) {
      throw new CliError("not-found", `the ${client.dialect.name} dialect lists no errors`, {
        hints: ["see the admin page of the service"],
      });
    }
    const { cc_pair_id, connector } = await whileAsking(place, () => findTarget(client, wanted));
    const id = cc_pair_id ?? Number(wanted);
    let listed = 0;
    const rows = async function* (): AsyncGenerator<ErrorRow> {
      for await (const error of listPairErrors(client, id, { resolved })) {
        listed++;
        yield toRow(id, error);
      }
    };
    const count = await writeList(output, options, columns, rowsWhileAsking(place, rows()));
    if (count === 0) await output.note(listed === 0 ? "there are no errors" : "no errors match");
    if (connector?.source === "ingestion_api") {
      await output.note("only crawls are listed: a failed upload leaves no error in the service");
    }
  });
}
