import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import { canReadStatus, listPairErrors, type PairError } from "../../../api/pair-status.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { checkSelection, writeList, type Column } from "../../../output/formats/formats.ts";
import { relativeTime } from "../../../output/terminal/time.ts";
import { connect } from "../../connect.ts";
import { findConnector } from "../find-connector.ts";
import { findPair } from "./read.ts";

export interface ConnectorsErrorsOptions extends GlobalFlags {
  resolved?: boolean;
}

/** One document that a run of the connector could not index. */
export interface ErrorRow {
  ccPairId: number;
  id: string | null;
  link: string | null;
  reason: string | null;
  failedAt: string | null;
  resolved: boolean | null;
}

const sampleRow: ErrorRow = {
  ccPairId: 0,
  id: "",
  link: "",
  reason: "",
  failedAt: "",
  resolved: false,
};

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

function createColumns(now: () => number, withResolved: boolean): Column<ErrorRow>[] {
  const show = (value: unknown): string => relativeTime(String(value), now());
  const hidden = { shown: false } as const;
  return [
    { name: "id", value: (row) => row.id, cut: "start" },
    { name: "reason", value: (row) => row.reason },
    { name: "failedAt", value: (row) => row.failedAt, show },
    { name: "resolved", value: (row) => row.resolved, shown: withResolved },
    { name: "link", value: (row) => row.link, cut: "start", ...hidden },
    { name: "ccPairId", value: (row) => row.ccPairId, align: "right", ...hidden },
  ];
}

/** The pair, and whether only uploads fill it. An unknown pair is an error: it has no errors. */
async function findTarget(client: Client, wanted: string) {
  if (/^\d{1,15}$/.test(wanted)) {
    const { record } = await findPair(client, Number(wanted));
    return { id: Number(wanted), source: record.connector?.source };
  }
  const record = findConnector(await listConnectors(client), wanted);
  return { id: record.cc_pair_id, source: record.connector?.source };
}

/** `connectors errors ID|NAME`: the documents that the runs of a connector could not index. */
export async function connectorsErrors(
  context: Context,
  [wanted = ""]: string[],
  options: ConnectorsErrorsOptions,
): Promise<void> {
  const columns = createColumns(() => context.now(), options.resolved === true);
  checkSelection(options, columns, sampleRow);
  const { client, output } = await connect(context, options);
  try {
    if (!canReadStatus(client)) {
      throw new CliError("not-found", `the ${client.dialect.name} interface lists no errors`, {
        hints: ["see the admin page of the service"],
      });
    }
    const { id, source } = await findTarget(client, wanted);
    const resolved = options.resolved === true;
    let listed = 0;
    const rows = async function* (): AsyncGenerator<ErrorRow> {
      for await (const error of listPairErrors(client, id, { resolved })) {
        listed++;
        yield toRow(id, error);
      }
    };
    const count = await writeList(output, options, columns, rows());
    if (count === 0) await output.note(listed === 0 ? "there are no errors" : "no errors match");
    if (source === "ingestion_api") {
      await output.note("only crawls are listed: a failed upload leaves no error in the service");
    }
  } finally {
    await client.close();
  }
}
