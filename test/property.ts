import { appendFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";

export * from "fast-check";

const surrogates = { from: 0xd800, count: 0x800 };
/** Each code point. fast-check's own unit keeps a map of all of them: a second of work, and 85 MB. */
const anyCodePoint = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.from ? index : index + surrogates.count),
  (text) => {
    const code = typeof text === "string" ? (text.codePointAt(0) ?? -1) : -1;
    const isOther = code < 0 || text !== String.fromCodePoint(code);
    const isHalf = code >= surrogates.from && code < surrogates.from + surrogates.count;
    if (isOther || isHalf) throw new Error("not one code point");
    return code < surrogates.from ? code : code - surrogates.count;
  },
);

/** As fast-check's own: the same values for the same seed. */
export function string(constraints: fc.StringConstraints = {}): fc.Arbitrary<string> {
  return fc.string(
    constraints.unit === "binary" ? { ...constraints, unit: anyCodePoint } : constraints,
  );
}

// The knob of every test that tries many values. `npm test` tries few, and always the same ones, so
// that a red test is about a change. `npm run prove -- NAME` tries many, and others each time.

const { KNOWCTL_TEST_RUNS, PROVE_SECONDS = "60", PROVE_SEED, PROVE_COUNTS } = process.env;
const proofRuns = Number(KNOWCTL_TEST_RUNS ?? "");
export const isProof = proofRuns > 0;
// Of one property.
const proofMs = Number(PROVE_SECONDS) * 1000;
const given = PROVE_SEED === undefined ? {} : { seed: Number(PROVE_SEED) };
/** Of what chooses its own values. */
export const givenSeed = Number(PROVE_SEED ?? "1");

/** Adds tried values to what the proof reports. */
function countValues(count: number): void {
  if (PROVE_COUNTS === undefined) return;
  appendFileSync(join(PROVE_COUNTS, `values-${process.pid}`), `${count}\n`);
}

/** As fast-check's own, but counts. */
function reporter(details: fc.RunDetails<unknown>): void {
  countValues(details.numRuns);
  if (!details.failed) return;
  const { errorInstance: cause } = details;
  throw new Error(fc.defaultReportMessage(details), { cause });
}

fc.configureGlobal(
  isProof
    ? { numRuns: proofRuns, interruptAfterTimeLimit: proofMs, reporter, ...given }
    : { numRuns: 200, seed: 1 },
);

/** Parameters of a property that costs much: how often it runs in `npm test`. */
export function few(count: number): { numRuns: number } {
  return { numRuns: isProof ? proofRuns : count };
}

/** The numbers 1, 2 and so on: `count` of them, in a proof as many as it asks for, while it has time. */
export function* turns(count: number): Generator<number> {
  const end = performance.now() + proofMs;
  const most = isProof ? proofRuns : count;
  let turn = 1;
  for (; turn <= most && !(isProof && performance.now() > end); turn++) yield turn;
  countValues(turn - 1);
}

/** Runs what chooses its own values by the seed 1, 2 and so on: `count` times, in a proof often. */
export async function forSeeds(count: number, run: (seed: number) => Promise<void>): Promise<void> {
  for (const seed of turns(count)) {
    try {
      await run(seed);
    } catch (error) {
      throw new Error(`with seed ${seed}`, { cause: error });
    }
  }
}

/** All values in a proof; else `count` of them, spread evenly, with the first and the last. */
export function someOf<T>(values: readonly T[], count: number): readonly T[] {
  if (isProof || values.length <= count) return values;
  const step = (values.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => values[Math.round(index * step)]!);
}

/** Places in a text or a file of this length: all in a proof, else some. */
export function placesIn(length: number, count: number): readonly number[] {
  return someOf(
    Array.from({ length: length + 1 }, (_, place) => place),
    count,
  );
}
