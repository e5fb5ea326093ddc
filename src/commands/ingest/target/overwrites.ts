import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import type { Client } from "../../../api/client.ts";
import { CliError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import { fromStdin, type Pending } from "../../../sync/run/pending.ts";
import { createIsRecorded } from "../../../sync/run/run.ts";
import type { UploadSession } from "../session.ts";

const idsShown = 5;
const cause = "a lost state, or another project with the same ids: --id-prefix";

/** What a dry run says of the flag. */
export const noOverwriteNote =
  "--no-overwrite: whether documents exist is looked up by the upload, before it sends anything";

/** Counts ids and keeps the first five, for one line. */
function createIds() {
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

/** Documents of a run that the service had, of which nothing was recorded here. */
export interface Overwritten {
  add(events: readonly DocumentEvent[]): void;
  /** Says so in one line, if there were any. */
  tell(output: Output): Promise<void>;
}

export function createOverwritten(): Overwritten {
  const ids = createIds();
  return {
    add(events) {
      for (const { wasUnrecorded, id } of events) if (wasUnrecorded) ids.add(id);
    },
    async tell(output) {
      if (ids.count() === 0) return;
      const what = countOf(ids.count(), "document");
      await output.warn(
        `the service had ${what} of which nothing is recorded here (${ids.text()}): ${cause}`,
      );
    },
  };
}

/** Throws CliError `not-found` where the interface cannot say which documents the service has. */
export function refuseUnlistable({ dialect }: Client): void {
  if (dialect.paths.ingestedDocuments !== undefined) return;
  throw new CliError(
    "not-found",
    `--no-overwrite: the ${dialect.name} interface cannot list documents; nothing was sent`,
    { hints: ["leave it out, and give each project its own --id-prefix"] },
  );
}

/** Whether the service has a document under an id of which nothing is recorded here. Throws ApiError. */
async function createIsForeign({
  connected: { client },
  state,
  targets,
}: UploadSession): Promise<(id: string) => boolean> {
  // Loaded here: most uploads list no documents.
  const { listIngested } = await import("../../../api/documents.ts");
  const there = await listIngested(client);
  const isRecorded = createIsRecorded(state, targets);
  const storedIdOf = client.dialect.storedId ?? ((id: string): string => id);
  return (id) => there.has(storedIdOf(id)) && !isRecorded(id);
}

/**
 * `--no-overwrite`: throws CliError `usage` when documents that are to be sent exist in
 * the service and are not recorded here. Throws ApiError when the service does not list
 * its documents.
 */
export async function refuseOverwrites(session: UploadSession): Promise<void> {
  let isForeign: ((id: string) => boolean) | undefined;
  const ids = createIds();
  for (const { head } of session.spool.records()) {
    if (head.known.last !== undefined) continue;
    isForeign ??= await createIsForeign(session);
    if (isForeign(head.document.id)) ids.add(head.document.id);
  }
  if (ids.count() === 0) return;
  const what = ids.count() === 1 ? "1 document is" : `${formatCount(ids.count())} documents are`;
  throw new CliError(
    "usage",
    `--no-overwrite: ${what} in the service already, and not recorded here; nothing was sent`,
    { details: [ids.text()], hints: [cause] },
  );
}

/** The same for what stdin brings: each such document is a failure, the others are sent. */
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
      const reason = `stdin:${part}:1: ${id} is in the service already, and not recorded here (--no-overwrite)`;
      return { ...fromStdin, prepared: { kind: "failed", path: "", part, id, reason } };
    });
  }
}
