import type { Database, Row } from "../../database.ts";

/** An upload of files, from its first request on. */
export interface BegunRun {
  /** Target that its failures are recorded under. */
  target: string;
  /** Root-relative paths and globs, "" for the root; empty stands for the configured `include`. */
  inputs: readonly string[];
  /** Which of the files it takes, e.g. `shard 1/4`; "" for all. */
  part: string;
  startedAtMs: number;
}

/** Uploads that began and have not sent everything: stopped, interrupted, killed, or still running. */
export interface UnfinishedRuns {
  begin(run: BegunRun): void;
  /** A run has ended: forgets it, and earlier ones of the target whose inputs it covers. */
  end(run: BegunRun): void;
  /** The last one of a target. */
  last(target: string): BegunRun | undefined;
}

export const noUnfinishedRuns: UnfinishedRuns = {
  begin: () => {},
  end: () => {},
  last: () => undefined,
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

function toRun(row: Row): BegunRun {
  return {
    target: String(row["target"]),
    inputs: inputsIn(String(row["inputs"])),
    part: String(row["part"]),
    startedAtMs: Number(row["started_at"]),
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

/** Unfinished runs in the database of a state; `guarded` runs what writes, and names its faults. */
export function createUnfinishedRuns(
  database: Database,
  guarded: (work: () => void) => void,
): UnfinishedRuns {
  const runsOf = (target: string): BegunRun[] =>
    database
      .prepare("SELECT * FROM unfinished WHERE target = ? ORDER BY started_at DESC")
      .all(target)
      .map(toRun);
  return {
    begin({ target, inputs, part, startedAtMs }) {
      const insert = database.prepare(
        "INSERT OR REPLACE INTO unfinished (target, inputs, part, started_at) VALUES (?, ?, ?, ?)",
      );
      guarded(() => insert.run(target, JSON.stringify(inputs), part, startedAtMs));
    },
    end(run) {
      const covered = runsOf(run.target).filter((each) => covers(run, each));
      if (covered.length === 0) return;
      const drop = database.prepare(
        "DELETE FROM unfinished WHERE target = ? AND inputs = ? AND part = ?",
      );
      guarded(() => {
        for (const { target, inputs, part } of covered) {
          drop.run(target, JSON.stringify(inputs), part);
        }
      });
    },
    last: (target) => runsOf(target)[0],
  };
}
