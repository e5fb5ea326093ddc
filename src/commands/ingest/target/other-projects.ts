import type { ReadyDocument } from "../../../documents/inspect/inspection.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import { createIsRecorded } from "../../../sync/run/run.ts";
import type { UploadSession } from "../session.ts";

export type Place = Pick<ReadyDocument, "path" | "part" | "id">;

/** A document that is not sent, for this reason. */
export const failed = (pending: Pending, { path, part, id }: Place, reason: string): Pending => ({
  ...pending,
  prepared: { kind: "failed", path, part, id, reason },
});

function ofProjectText({ path, part, id }: Place, project: string): string {
  const place = path === "" ? `stdin:${part}:1` : path;
  return `${place}: project ${project} of the shared record has ${neutraliseLine(id)}, and this one has not: use an --id-prefix of your own, or --overwrite to replace it`;
}

/** Turns documents that another project of the shared record has, and this one has not, into failures. */
export async function withoutOtherProjects(
  batch: Pending[],
  { record, state, targets }: UploadSession,
): Promise<Pending[]> {
  const isRecorded = createIsRecorded(state, targets);
  const ids = batch.flatMap(({ prepared }) =>
    prepared.kind === "document" && !isRecorded(prepared.id) ? [prepared.id] : [],
  );
  const others = await record?.othersWith(targets.baseUrl, ids);
  return batch.map((each) => {
    const { prepared } = each;
    const project = prepared.kind === "document" ? others?.get(prepared.id) : undefined;
    if (prepared.kind !== "document" || project === undefined) return each;
    return failed(each, prepared, ofProjectText(prepared, project));
  });
}
