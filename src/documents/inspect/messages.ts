import type { Looked, LookItem } from "./inspection.ts";

/**
 * Between threads, files and results go as JSON, and the bodies of documents change hands: a
 * structured clone of so many small objects takes several times as long.
 */
export interface ResultMessage {
  /** JSON of the results, without bodies. */
  text: string;
  /** By position of the result. */
  bodies: (Uint8Array | undefined)[];
}

export function packItems(items: readonly LookItem[]): string {
  return JSON.stringify(items);
}

export function unpackItems(text: string): LookItem[] {
  return JSON.parse(text) as LookItem[];
}

const noBody = new Uint8Array(0);

/**
 * The message for results, and the memory that goes with it: several bodies share a block. Takes
 * the bodies out of `results`.
 */
export function packResults(results: readonly Looked[]): {
  message: ResultMessage;
  blocks: ArrayBuffer[];
} {
  const blocks = new Set<ArrayBuffer>();
  const bodies = results.map((each) => {
    if (each.kind !== "document") return undefined;
    const { body } = each;
    blocks.add(body.buffer as ArrayBuffer);
    each.body = noBody;
    return body;
  });
  return { message: { text: JSON.stringify(results), bodies }, blocks: [...blocks] };
}

export function unpackResults({ text, bodies }: ResultMessage): Looked[] {
  const results = JSON.parse(text) as Looked[];
  for (const [index, each] of results.entries()) {
    const body = bodies[index];
    if (each.kind === "document" && body) each.body = body;
  }
  return results;
}
