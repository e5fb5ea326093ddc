import type { Prepared } from "../documents/inspection.ts";
import { formatOf } from "../documents/readers.ts";
import type { Candidate } from "./merge.ts";
import type { PlanEntries } from "./plan-entries.ts";
import type { PlanRequest } from "./plan.ts";

async function readIds(
  { item }: Candidate,
  { inspector, format }: PlanRequest,
  entries: PlanEntries,
): Promise<void> {
  const add = (prepared: Prepared): void => {
    if (prepared.kind === "document") entries.addUntaken(item.path, prepared.part, prepared.id);
  };
  if (formatOf(item.path, format)?.gives === "rows") {
    for await (const row of inspector.readRows(item)) add(row);
    return;
  }
  for (const looked of await inspector.look([item])) if (looked.kind !== "same") add(looked);
}

/**
 * Plans the ids of a file that has not changed and is not recorded: what changed must not
 * overwrite its documents. Whatever else may be the matter with it is not this run's concern.
 */
export function addUntaken(
  candidate: Candidate,
  request: PlanRequest,
  entries: PlanEntries,
): Promise<void> | undefined {
  const glanced = request.inspector.glance(candidate.item);
  if (!glanced) return readIds(candidate, request, entries);
  entries.addUntaken(candidate.item.path, 0, glanced.id);
  return undefined;
}
