import { hash } from "node:crypto";

/** A document that a sample may contain. */
export interface Candidate {
  id: string;
  /** Relative to the project root; undefined for a document from stdin. */
  path: string | undefined;
  /** Its upload is in doubt: the service said something unexpected, or may have skipped it. */
  isSuspect: boolean;
}

function folderOf(path: string | undefined): string {
  return path === undefined ? "" : path.slice(0, path.lastIndexOf("/") + 1);
}

const ranked = <T extends Candidate>(all: readonly T[]): T[] =>
  all
    .map((each) => ({ each, rank: hash("sha256", each.id, "hex") }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ each }) => each);

/**
 * Chooses `size` documents, always the same ones for the same documents: suspects first, up to a
 * third of the sample, then the other documents by turns from each folder, in the order of a hash
 * of their ids.
 */
export function chooseSample<T extends Candidate>(all: readonly T[], size: number): T[] {
  if (size >= all.length) return [...all];
  const suspects = ranked(all.filter(({ isSuspect }) => isSuspect));
  const chosen = new Set(suspects.slice(0, Math.ceil(size / 3)));
  const folders = new Map<string, T[]>();
  for (const each of ranked(all.filter((each) => !chosen.has(each)))) {
    const folder = folderOf(each.path);
    const queue = folders.get(folder);
    if (queue) queue.push(each);
    else folders.set(folder, [each]);
  }
  const queues = [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
  for (let turn = 0; chosen.size < size; turn++) {
    for (const queue of queues) {
      const next = queue[turn];
      if (next && chosen.size < size) chosen.add(next);
    }
  }
  return [...chosen];
}
