import type { Database, Row } from "../../database.ts";
import { timeIn } from "./records.ts";

/** An upload of files, from its first request on. */
export interface BegunRun {
  /** Target that its failures are recorded under. */
  target: string;
  /** Root-relative paths and globs, "" for the root; empty stands for the configured `include`. */
  inputs: readonly string[];
  /** Which of the files it takes, e.g. `shard 1/4`; "" for all. */
  part: string;
  startedAtMs: number;
  /** Number of its options, see OptionsStore. */
  options?: number | undefined;
  /** Of another state: its flags shape documents, but its inputs select no files. */
  isImported?: true | undefined;
}

/** Uploads of files: the last one of each inputs. */
export interface Uploads {
  begin(run: BegunRun): void;
  /** A run has ended: it takes the place of earlier ones of the target whose inputs it covers. */
  end(run: BegunRun): void;
  /** The last one of a target that has not sent everything: stopped, interrupted, killed, or still running. */
  stopped(target: string): BegunRun | undefined;
  /** All of a target, the last one first. */
  list(target: string): BegunRun[];
}

export const noUploads: Uploads = {
  begin: () => {},
  end: () => {},
  stopped: () => undefined,
  list: () => [],
};

/** The inputs of a row; the root for damaged ones, which covers whatever they were. */
function inputsIn(json: string): string[] {
  try {
    const inputs: unknown = JSON.parse(json);
    if (Array.isArray(inputs)) return inputs.map(String);
  } catch {
    // Damaged, or from another program.
  }
  return [""];
}

export function toRun(row: Row): BegunRun {
  return {
    target: String(row["target"]),
    inputs: inputsIn(String(row["inputs"])),
    part: String(row["part"]),
    startedAtMs: timeIn(row, "started_at"),
    options: row["options"] === null ? undefined : Number(row["options"]),
    ...(row["origin"] === "imported" ? { isImported: true } : {}),
  };
}

/** Whether a run looks at all that another one looks at. */
function covers(run: BegunRun, other: BegunRun): boolean {
  if (run.part !== "" && run.part !== other.part) return false;
  if (run.inputs.length === 0 || other.inputs.length === 0) {
    return run.inputs.includes("") || run.inputs.length === other.inputs.length;
  }
  return other.inputs.every((input) =>
    run.inputs.some((each) => each === "" || each === input || input.startsWith(`${each}/`)),
  );
}

/** Uploads in the database of a state; `guarded` runs what writes, and names its faults. */
export function createUploads(database: Database, guarded: (work: () => void) => void): Uploads {
  const runsOf = (target: string, which: string): BegunRun[] =>
    database
      .prepare(`SELECT * FROM uploads WHERE target = ? ${which} ORDER BY started_at DESC`)
      .all(target)
      .map(toRun);
  const store = (run: BegunRun, part: string, ended: 0 | 1): void => {
    const { target, inputs, startedAtMs, options = null } = run;
    database
      .prepare(
        "INSERT OR REPLACE INTO uploads (target, inputs, part, started_at, options, ended) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(target, JSON.stringify(inputs), part, startedAtMs, options, ended);
  };
  return {
    begin: (run) => guarded(() => store(run, run.part, 0)),
    end(run) {
      const drop = database.prepare(
        "DELETE FROM uploads WHERE target = ? AND inputs = ? AND part = ?",
      );
      const stopped = database.prepare(
        "SELECT 1 AS yes FROM uploads WHERE target = ? AND inputs = ? AND part = '' AND ended = 0",
      );
      guarded(() => {
        for (const each of runsOf(run.target, "")) {
          if (covers(run, each)) drop.run(each.target, JSON.stringify(each.inputs), each.part);
        }
        // The options of a part are those of the whole. A whole run that stopped stays.
        const isStopped = stopped.get(run.target, JSON.stringify(run.inputs)) !== undefined;
        if (!isStopped) store(run, "", 1);
      });
    },
    stopped: (target) => runsOf(target, "AND ended = 0")[0],
    list: (target) => runsOf(target, ""),
  };
}
