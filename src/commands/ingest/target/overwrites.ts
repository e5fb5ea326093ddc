import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";

/**
 * Documents of a run that the service already had without a record here. Where the service lists
 * its documents, they were told apart before; elsewhere its answer is the only sign.
 */
export interface Overwritten {
  /** Returns the warning about the first one; undefined for none, and after the first. */
  add(events: readonly DocumentEvent[]): string | undefined;
}

const causes =
  "another project sends the same ids (use --id-prefix), or the state was lost (keep .knowctl, in a pipeline in its cache), " +
  "or the service did not index it (`knowctl verify` tells)";

/** `isTold` false: the run keeps no record, or another one sends under the same state. */
export function createOverwritten(isTold: () => boolean): Overwritten {
  let isOver = false;
  return {
    add(events) {
      if (isOver) return undefined;
      const first = events.find(({ wasUnrecorded }) => wasUnrecorded);
      if (first === undefined || !isTold()) return undefined;
      isOver = true;
      return `the service already had ${neutraliseLine(first.id)}, which has no record here: ${causes}`;
    },
  };
}
