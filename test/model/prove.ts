import * as fc from "fast-check";
import { hasPostgres } from "../postgres.ts";
import type { Count, World } from "./run.ts";
import { playSequence } from "./sequence.ts";
import type { Dialect } from "./service.ts";
import { sequences } from "./steps.ts";

export interface ProveOptions {
  dialects: readonly Dialect[];
  /** Of the first sequence; the others follow. */
  seed: number;
  /** Of each dialect. */
  sequences: number;
  seconds: number;
  /** How long a sequence that fails is made smaller, in seconds. */
  shrinkSeconds: number;
}

export interface Found {
  seed: number;
  dialect: Dialect;
  /** The violation, and the smallest sequence found as a script. */
  text: string;
}

export interface Proved {
  sequences: number;
  /** How often what happened. */
  counts: Map<string, number>;
  found: Found[];
}

/** Plays the sequence of a seed. Gives what it violates, in the smallest sequence found. */
async function proveSeed(
  seed: number,
  world: World,
  { shrinkSeconds, count }: { shrinkSeconds: number; count: Count },
): Promise<Found | undefined> {
  const property = fc.asyncProperty(sequences, (sequence) => playSequence(sequence, world, count));
  const details = await fc.check(property, {
    seed,
    numRuns: 1,
    endOnFailure: shrinkSeconds === 0,
    interruptAfterTimeLimit: Math.max(shrinkSeconds, 120) * 1000,
  });
  if (!details.failed) return undefined;
  const { errorInstance } = details;
  const { dialect } = world;
  return { seed, dialect, text: (errorInstance as Error | null)?.message ?? "interrupted" };
}

/** Each dialect; every third seed is played on two machines as well, where PostgreSQL is installed. */
function worldsOf(seed: number, dialects: readonly Dialect[]): World[] {
  const machines = hasPostgres && seed % 3 === 0 ? ([1, 2] as const) : ([1] as const);
  return dialects.flatMap((dialect) => machines.map((each) => ({ dialect, machines: each })));
}

/** Plays sequences until there are as many as asked, or the time is over. */
export async function prove(
  { dialects, seed, sequences: most, seconds, shrinkSeconds }: ProveOptions,
  tell: (found: Found | undefined) => void = () => {},
): Promise<Proved> {
  const end = performance.now() + seconds * 1000;
  const proved: Proved = { sequences: 0, counts: new Map(), found: [] };
  const count: Count = (what, times = 1) => {
    proved.counts.set(what, (proved.counts.get(what) ?? 0) + times);
  };
  for (let index = 0; index < most && performance.now() < end; index++) {
    for (const world of worldsOf(seed + index, dialects)) {
      const found = await proveSeed(seed + index, world, { shrinkSeconds, count });
      proved.sequences++;
      if (found) proved.found.push(found);
      tell(found);
    }
  }
  return proved;
}
