import type { Notice } from "../../documents/payload/metadata.ts";

/** `count` is that of documents; of `leftOut` that of what is left out. */
export interface CountedNotice extends Omit<Notice, "kind"> {
  /** `sameLink`: a template made the link of another file for these documents. */
  kind: Exclude<Notice["kind"], "made"> | "sameLink";
  count: number;
  /** File of the first document with this notice; "" for stdin. */
  path: string;
  /** First occurrence: the path, with the number of a row or line. */
  first: string;
  /** Of `sameLink`: the file that has the link, too. */
  second?: string;
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

// Memory must not grow with the number of documents. A wrong template shows in the first ones.
const linksKept = 50_000;

/** Counts the files whose made link an earlier file has. */
function createLinkCount(): {
  add(link: string, document: { path: string; part: number }): void;
  list(): CountedNotice[];
} {
  const paths = new Map<string, string>();
  let same: CountedNotice | undefined;
  return {
    add(link, { path }) {
      const known = paths.get(link);
      if (known === undefined) {
        if (paths.size < linksKept) paths.set(link, path);
      } else if (known !== path) {
        // The rows of a file may share their link; its documents from stdin have no file.
        same ??= {
          kind: "sameLink",
          name: link,
          count: 0,
          path: known,
          first: known,
          second: path,
        };
        same.count++;
      }
    },
    list: () => (same ? [same] : []),
  };
}

/** Creates empty counts. After fifty names, all further names are counted as `others`. */
export function createNoticeCounts(): NoticeCounts {
  const counts = new Map<string, CountedNotice>();
  const links = createLinkCount();
  return {
    add(notices, document) {
      for (const { kind, name, times = 1, example } of notices) {
        if (kind === "made") {
          links.add(name, document);
          continue;
        }
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
    list: () => [...counts.values(), ...links.list()],
  };
}
