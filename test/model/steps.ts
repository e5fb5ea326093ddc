import * as fc from "fast-check";
import type { Selection } from "./project.ts";
import type { Shape } from "./world.ts";

/** What goes wrong with the requests of one command. */
export interface Fault {
  what: 429 | 500 | 503 | "reset-before-store" | "reset-after-store" | "cut" | "html" | "refuse";
  /** Which document that is sent, from 1; of "refuse": which of the run's documents, always. */
  nth: number;
  /** All from there on. */
  lasting: boolean;
  /** The command is repeated without the fault. */
  again: boolean;
}

/** The flags that an ingest and its repetition share. */
export interface Upload {
  selection: Selection;
  shape: Shape;
  /** Undefined: left to what is recorded. */
  pair: number | undefined;
  /** A folder of its own for the state. */
  elsewhere?: boolean;
  noState?: boolean;
  force?: boolean;
  checksum?: boolean;
  /** `--overwrite`: also documents that stand under another pair. */
  overwrite?: boolean;
  /** `--allow-id-change`. */
  allowIdChange?: boolean;
}

export type Removal = "status" | "prune" | "tombstone";

export type Step = { project: number } & (
  | { do: "edit" | "revert" | "remove"; path: string }
  | { do: "own-id"; path: string; id: string | undefined }
  | { do: "opt-out"; path: string; how: "draft" | "ingest" | undefined }
  | { do: "break" | "ignore"; path: string; on: boolean }
  | { do: "rename"; path: string; to: string }
  | { do: "row"; path: string; key: string; how: "edit" | "remove" }
  | { do: "mark"; how: "git" | "config" }
  | { do: "lose" | "transfer" | "foreign" }
  // With a shared record: the other machine goes on; the database restarts; an upload by one machine
  // and then by the other.
  | { do: "switch" | "restart" }
  | { do: "both"; upload: Upload }
  // Two workers claim the documents; one is killed when it has sent `nth - 1` of them.
  | { do: "claim"; upload: Upload; nth: number }
  // Two that need several steps in a row: a file fails and is mended; one is changed, stored
  // without an answer, and changed back.
  | { do: "fail"; path: string; upload: Upload; retried: boolean }
  | { do: "doubt"; path: string; upload: Upload }
  | { do: "ingest"; upload: Upload; fault?: Fault | undefined }
  | { do: "kill"; upload: Upload; nth: number; answered: boolean }
  | { do: "shards"; upload: Upload; count: number; apart: boolean }
  | { do: "removal"; upload: Upload; action: Removal; classes: string[] }
  | { do: "retry"; upload: Upload; fault?: Fault | undefined }
);

export interface Sequence {
  /** What marks the root of the first project. */
  marker: "git" | "config" | "none";
  /** Options of the first upload. */
  shape: Shape;
  /** Whether all is sent before the first step. */
  sent: boolean;
  /** The second project has the ids of the first, and a pair of its own. */
  shared: boolean;
  /** The environment holds a variable for each switch that has none. */
  variables: boolean;
  steps: Step[];
}

const texts = [
  "README.md",
  "docs/a.md",
  "docs/b.md",
  "docs/sub/c.md",
  "docs/sub/d.txt",
  "notes/e.mdx",
] as const;
const tables = ["docs/rows.csv", "notes/list.ndjson"] as const;
/** Folders that are always there. */
export const folders = ["", "docs", "docs/sub", "notes"] as const;
/** What is there at the start. */
export const firstFiles = ["README.md", "docs/a.md", "docs/sub/c.md", "docs/rows.csv"] as const;
const classNames = [
  "gone",
  "excluded",
  "other-options",
  "row-gone",
  "opted-out",
  "shared",
  "adopted",
  "foreign",
] as const;

const text = fc.constantFrom(...texts);
const file = fc.constantFrom(...texts, ...tables);
/** Undefined in `weight` of `weight + 1`. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> =>
  fc.oneof(
    { withCrossShrink: true },
    { arbitrary: fc.constant(undefined), weight },
    { arbitrary, weight: 1 },
  );
/** True in one of `n`. */
const rarely = (n: number): fc.Arbitrary<boolean> =>
  fc.integer({ min: 0, max: n - 1 }).map((value) => value === n - 1);

const plain: Shape = {};
const anyShape: fc.Arbitrary<Shape> = fc.constantFrom<Shape>(
  plain,
  { tag: "t1" },
  { prefix: "kb/" },
  { prefix: "kb/", tag: "t2", link: true },
  { headings: true, team: "a" },
  { drafts: true },
  { map: true },
);
const shape = fc.oneof(
  { arbitrary: fc.constant(plain), weight: 2 },
  { arbitrary: anyShape, weight: 3 },
);

const input: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constant(""), weight: 4 },
  { arbitrary: fc.constantFrom(...folders), weight: 2 },
  { arbitrary: file, weight: 2 },
  { arbitrary: fc.constantFrom("docs/*.md", "docs/*.csv", "notes/*.ndjson"), weight: 1 },
);
const inputs: fc.Arbitrary<string[]> = fc.oneof(
  { arbitrary: fc.uniqueArray(input, { minLength: 1, maxLength: 3 }), weight: 3 },
  { arbitrary: fc.constant<string[]>(["", "docs/rows.csv"]), weight: 2 },
);

/** The whole project, most of the time: what is out of scope is of no interest to a removal. */
const wide: fc.Arbitrary<Selection> = fc.record({
  cwd: fc.constantFrom("", "", "", ...folders),
  paths: fc.oneof(
    { arbitrary: fc.constant<string[]>([""]), weight: 5 },
    { arbitrary: fc.uniqueArray(input, { minLength: 1, maxLength: 2 }), weight: 2 },
  ),
  root: rarely(8),
});

const selection: fc.Arbitrary<Selection> = fc.record({
  cwd: fc.constantFrom("", "", "", ...folders),
  paths: inputs,
  exclude: maybe(fc.constantFrom("b.md", "c.md"), 8),
  noIgnore: rarely(8),
  root: rarely(8),
});

const pair = fc.oneof(
  { arbitrary: fc.constant<number | undefined>(2), weight: 6 },
  { arbitrary: fc.constant<number | undefined>(7), weight: 1 },
  { arbitrary: fc.constant<number | undefined>(undefined), weight: 2 },
);

const upload: fc.Arbitrary<Upload> = fc.record({
  selection,
  shape,
  pair,
  elsewhere: rarely(15),
  noState: rarely(15),
  force: rarely(12),
  checksum: rarely(12),
  overwrite: rarely(12),
  allowIdChange: rarely(3).map((isAbsent) => !isAbsent),
});

const removal: fc.Arbitrary<Upload> = fc.record({
  selection: wide,
  shape,
  pair,
  elsewhere: rarely(15),
});

const fault: fc.Arbitrary<Fault> = fc.record({
  what: fc.constantFrom(
    429 as const,
    500 as const,
    503 as const,
    "reset-before-store" as const,
    "reset-after-store" as const,
    "reset-after-store" as const,
    "cut" as const,
    "html" as const,
    "refuse" as const,
    "refuse" as const,
  ),
  nth: fc.integer({ min: 1, max: 4 }),
  lasting: fc.boolean(),
  again: rarely(3),
});

const project = rarely(5).map(Number);
const step = <T extends Record<string, fc.Arbitrary<unknown>>>(
  weight: number,
  what: Step["do"] | readonly Step["do"][],
  rest: T,
): { arbitrary: fc.Arbitrary<Step>; weight: number } => ({
  arbitrary: fc.record({ project, do: fc.constantFrom(...[what].flat()), ...rest }) as never,
  weight,
});

/** Files with front matter that most selections take. */
const marked = fc.constantFrom("docs/a.md", "docs/b.md");

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  step(14, "ingest", { upload, fault: maybe(fault, 3) }),
  step(1, "kill", { upload, nth: fc.integer({ min: 1, max: 5 }), answered: fc.boolean() }),
  step(1, "shards", { upload, count: fc.integer({ min: 2, max: 3 }), apart: fc.boolean() }),
  step(9, "removal", {
    upload: removal,
    action: fc.constantFrom("status", "prune", "prune", "tombstone"),
    classes: fc.oneof(fc.constant([]), fc.subarray([...classNames], { maxLength: 2 })),
  }),
  step(5, "retry", { upload: removal, fault: maybe(fault, 1) }),
  step(4, "fail", { path: marked, upload, retried: fc.boolean() }),
  step(2, "doubt", { path: marked, upload }),
  step(8, "edit", { path: text }),
  step(4, "revert", { path: file }),
  step(4, "remove", { path: file }),
  step(2, "own-id", { path: text, id: maybe(fc.constantFrom("own-x", "own-y"), 2) }),
  step(2, "opt-out", { path: text, how: maybe(fc.constantFrom("draft", "ingest"), 2) }),
  step(4, "break", { path: marked, on: fc.boolean() }),
  step(2, "ignore", { path: file, on: fc.boolean() }),
  step(3, "rename", { path: file, to: file }),
  step(4, "row", {
    path: fc.constantFrom(...tables),
    key: fc.constantFrom("r1", "r2", "r3"),
    how: fc.constantFrom("edit", "edit", "remove"),
  }),
  step(1, "mark", { how: fc.constantFrom("git", "config") }),
  step(1, "lose", {}),
  step(1, "transfer", {}),
  step(1, "foreign", {}),
);

/** Random sequences, plain data: what does not apply when its turn comes is left out. */
export const sequences: fc.Arbitrary<Sequence> = fc.noBias(
  fc.record({
    marker: fc.constantFrom("git", "git", "config", "none"),
    shape,
    sent: rarely(4).map((isUnsent) => !isUnsent),
    shared: fc.boolean(),
    variables: rarely(3),
    steps: fc.array(anyStep, { minLength: 1, maxLength: 30, size: "max" }),
  }),
);
