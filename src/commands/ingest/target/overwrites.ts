import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import type { Client } from "../../../api/client.ts";
import { onyxHint } from "../../../api/dialects.ts";
import { CliError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import { fromStdin, type Pending } from "../../../sync/run/pending.ts";
import { createIsRecorded } from "../../../sync/run/run.ts";
import type { UploadSession } from "../session.ts";

const idsShown = 5;
const possibleCause =
  "either the state was lost, or another project has the same ids (use --id-prefix)";
// A service that loses a document after its 200 answers the same.
const orLost = "or it did not index them: `knowctl verify` tells";

/** Note of a dry run with --no-overwrite. */
export const noOverwriteNote =
  "--no-overwrite: the upload checks for existing documents before it sends anything";

/** Counts ids and keeps the first five for a message. */
function createIdSample() {
  const first: string[] = [];
  let count = 0;
  return {
    add(id: string): void {
      if (++count <= idsShown) first.push(id);
    },
    count: () => count,
    text: (): string => neutraliseLine(first.join(", ") + (count > idsShown ? ", …" : "")),
  };
}

/** Documents of a run that the service already had without a record here. */
export interface Overwritten {
  add(events: readonly DocumentEvent[]): void;
  /** Prints a warning if there are any. */
  tell(output: Output): Promise<void>;
}

export function createOverwritten(): Overwritten {
  const ids = createIdSample();
  return {
    add(events) {
      for (const { wasUnrecorded, id } of events) if (wasUnrecorded) ids.add(id);
    },
    async tell(output) {
      if (ids.count() === 0) return;
      const what = countOf(ids.count(), "document");
      await output.warn(
        `the service already had ${what} without a record here (${ids.text()}): ${possibleCause}, ${orLost}`,
      );
    },
  };
}

/** Throws CliError `not-found` when the service's interface cannot list documents. */
export function refuseUnlistable({ dialect }: Client): void {
  if (dialect.paths.ingestedDocuments !== undefined) return;
  throw new CliError(
    "not-found",
    `--no-overwrite: the ${dialect.name} interface cannot list documents; nothing was sent`,
    { hints: [onyxHint, "omit it, and use another --id-prefix for each project"] },
  );
}

/** Whether the service has a document that is not recorded here. Throws ApiError. */
async function createIsForeign({
  connected: { client },
  state,
  targets,
  output,
}: UploadSession): Promise<(id: string) => boolean> {
  // Imported on demand: most uploads list no documents.
  const { listIngested } = await import("../../../api/documents.ts");
  const ingestedIds = await listIngested(client);
  const isRecorded = createIsRecorded(state, targets);
  const storedIdOf = client.dialect.storedId ?? ((id: string): string => id);
  // The listing is redacted: an id may contain a short secret of the profile.
  return (id) => ingestedIds.has(output.secrets.redact(storedIdOf(id))) && !isRecorded(id);
}

/**
 * `--no-overwrite`: throws CliError `usage` when the service already has documents of the plan
 * that are not recorded here. Throws ApiError when listing the documents fails.
 */
export async function refuseOverwrites(session: UploadSession): Promise<void> {
  let isForeign: ((id: string) => boolean) | undefined;
  const ids = createIdSample();
  for (const { head } of session.spool.records()) {
    if (head.known.last !== undefined) continue;
    isForeign ??= await createIsForeign(session);
    if (isForeign(head.document.id)) ids.add(head.document.id);
  }
  if (ids.count() === 0) return;
  const what = ids.count() === 1 ? "1 document is" : `${formatCount(ids.count())} documents are`;
  throw new CliError(
    "usage",
    `--no-overwrite: ${what} already in the service, but not recorded here; nothing was sent`,
    { details: [ids.text()], hints: [possibleCause] },
  );
}

/** `--no-overwrite` for stdin: each such document fails, the other documents are sent. */
export async function* withoutOverwrites(
  pending: AsyncIterable<Pending[]>,
  session: UploadSession,
): AsyncGenerator<Pending[], void> {
  const isForeign = await createIsForeign(session);
  for await (const batch of pending) {
    yield batch.map((each): Pending => {
      const { prepared } = each;
      if (prepared.kind !== "document" || !isForeign(prepared.id)) return each;
      const { part, id } = prepared;
      const reason = `stdin:${part}:1: ${id} is already in the service, but not recorded here (--no-overwrite)`;
      return { ...fromStdin, prepared: { kind: "failed", path: "", part, id, reason } };
    });
  }
}
