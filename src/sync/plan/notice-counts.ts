import type { Notice } from "../../documents/map/notices.ts";

/** `count` is that of documents; of `leftOut` that of what is left out. */
export interface CountedNotice extends Notice {
  count: number;
  /** File of the first document with this notice; "" for stdin. */
  path: string;
  /** First occurrence: the path, with the number of a row or line. */
  first: string;
}

/** Counts the notices of a run in constant memory. */
export interface NoticeCounts {
  add(notices: readonly Notice[], document: { path: string; part: number }): void;
  list(): CountedNotice[];
}

// Documents choose the names: each row may have a different one.
const namesKept = 50;

function placeOf({ path, part }: { path: string; part: number }): string {
  if (path === "") return part > 0 ? `stdin:${part}` : "stdin";
  return part > 0 ? `${path}#${part}` : path;
}

/** Creates empty counts. After fifty names, all further names are counted as `others`. */
export function createNoticeCounts(): NoticeCounts {
  const counts = new Map<string, CountedNotice>();
  return {
    add(notices, document) {
      for (const { kind, name, times = 1, example } of notices) {
        const isKept = counts.size < namesKept || counts.has(`${kind} ${name}`);
        const shown = isKept ? name : "others";
        const key = `${kind} ${shown}`;
        const known = counts.get(key);
        if (known) known.count += times;
        else {
          const { path } = document;
          const first = placeOf(document);
          const entry: CountedNotice = { kind, name: shown, count: times, path, first };
          if (example !== undefined) entry.example = example;
          counts.set(key, entry);
        }
      }
    },
    list: () => [...counts.values()],
  };
}
