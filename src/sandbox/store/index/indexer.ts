import { performance } from "node:perf_hooks";
import type { Database, Row } from "../../../database.ts";
import { messageOf } from "../../../errors.ts";
import { indexText, type Passage, splitPassages } from "./passages.ts";
import { createChunker, passageMarks } from "./search.ts";

interface Section {
  text?: string;
  link?: string;
}

/** Maximum length of key and value together for a tag: observed-service.md 3.2. */
const maxTagLength = 255;

function tagsOf(metadata: Record<string, string | string[]>): [string, string][] {
  return Object.entries(metadata).flatMap(([key, value]) =>
    [value]
      .flat()
      .filter((item) => key.length + item.length <= maxTagLength)
      .map((item): [string, string] => [key, item]),
  );
}

function createWriter(database: Database): (row: Row) => void {
  const statements = {
    unindex: database.prepare(
      "DELETE FROM passage_index WHERE rowid IN (SELECT number FROM passages WHERE document = ?)",
    ),
    forget: database.prepare("DELETE FROM passages WHERE document = ?"),
    untag: database.prepare("DELETE FROM tags WHERE document = ?"),
    keep: database.prepare(
      "INSERT INTO passages(document, link, heading, text, marks, chunk) VALUES (?, ?, ?, ?, ?, ?) RETURNING number",
    ),
    index: database.prepare("INSERT INTO passage_index(rowid, title, body) VALUES (?, ?, ?)"),
    tag: database.prepare("INSERT OR IGNORE INTO tags(document, key, value) VALUES (?, ?, ?)"),
    done: database.prepare("UPDATE documents SET indexed = 1 WHERE number = ?"),
  };
  return (row) => {
    const number = Number(row["number"]);
    const title = String(row["title"] ?? row["name"]);
    statements.unindex.run(number);
    statements.forget.run(number);
    statements.untag.run(number);
    const chunkOf = createChunker();
    let kept = 0;
    const keep = (link: string | null, passage: Passage): void => {
      const { heading, text } = passage;
      const row = [number, link, heading, text, passageMarks(passage), chunkOf(passage)] as const;
      const own = statements.keep.get(...row)?.["number"];
      statements.index.run(Number(own), indexText(`${title} ${heading}`), indexText(text));
      kept += 1;
    };
    for (const section of JSON.parse(String(row["sections"])) as Section[]) {
      for (const passage of splitPassages(section.text ?? "")) {
        keep(section.link ?? null, passage);
      }
    }
    // A document with only a title must be found, too.
    if (kept === 0) keep(null, { heading: "", text: "" });
    for (const [key, value] of tagsOf(JSON.parse(String(row["metadata"])))) {
      statements.tag.run(number, key, value);
    }
    statements.done.run(number);
  };
}

/**
 * Adds stored documents to the full-text index after their response was sent: soon when
 * uploads pause, in short slices while they continue. The queue is the table itself, so a
 * crash loses nothing.
 */
export function createIndexer(database: Database, log: (text: string) => void) {
  const next = database.prepare(
    "SELECT number, name, title, sections, metadata FROM documents WHERE indexed = 0 ORDER BY number LIMIT 16",
  );
  const write = createWriter(database);
  let timer: NodeJS.Timeout | undefined;
  let waiters: (() => void)[] = [];
  let lastNotified = 0;
  let waitingSince: number | undefined;
  let stopped = false;

  const settle = (): void => {
    waitingSince = undefined;
    const settled = waiters;
    waiters = [];
    for (const resolve of settled) resolve();
  };
  const schedule = (ms: number): void => {
    timer ??= setTimeout(run, ms);
  };
  // Indexes for `budgetMs`; returns whether documents may be left.
  const indexSlice = (budgetMs: number): boolean => {
    const end = performance.now() + budgetMs;
    while (performance.now() < end) {
      const rows = next.all();
      if (rows.length === 0) return false;
      database.transaction(() => {
        for (const row of rows) {
          write(row);
          if (performance.now() > end) break;
        }
      });
    }
    return true;
  };
  const run = (): void => {
    timer = undefined;
    if (stopped) return settle();
    const now = performance.now();
    const busy = now - lastNotified < 8 && waiters.length === 0;
    if (busy && now - (waitingSince ?? now) < 1_000) return schedule(10);
    let more;
    try {
      more = indexSlice(10);
    } catch (error) {
      // A full disk or another process's lock: the documents stay queued.
      log(`indexing failed, next attempt in 1 s: ${messageOf(error)}`);
      return schedule(1_000);
    }
    if (more) schedule(busy ? 30 : 0);
    else settle();
  };

  return {
    /** Reports that documents are queued. Returns at once; indexing happens later. */
    notify(): void {
      lastNotified = performance.now();
      waitingSince ??= lastNotified;
      schedule(10);
    },
    /** Resolves when the queue is empty; a short one is done at once. */
    idle: () =>
      new Promise<void>((resolve) => {
        waiters.push(resolve);
        clearTimeout(timer);
        run();
      }),
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      timer = undefined;
      settle();
    },
  };
}
