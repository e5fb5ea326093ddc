import { runTests } from "./vitest.js";

/**
 * Plays rounds of three workers on one record in PostgreSQL, with kills and an outage: test/engines.
 * `rounds` of them, or as many as begin within the seconds.
 */
export async function enginesPart({ seconds, seed, rounds }) {
  const { text, failed } = await runTests(
    ["test/engines/rounds.test.ts", "--disable-console-intercept"],
    {
      PROVE_SEED: String(seed),
      PROVE_ROUNDS: rounds ?? "5",
      ...(rounds === undefined ? { PROVE_SECONDS: String(seconds) } : {}),
    },
  );
  if (failed.length > 0) {
    const [, own = seed] = /seed (\d+):/.exec(failed[0].text) ?? [];
    const replay = `npm run prove -- engines --seed ${own} --rounds 1`;
    return { violated: failed.map((each) => ({ what: each.text, replay })) };
  }
  const [played] = /^\d+ rounds, .*$/m.exec(text) ?? [];
  if (played === undefined) return { skipped: "PostgreSQL is not installed" };
  return {
    tried: [
      played,
      "each: 5,000 documents, three workers with --claim, a service with 20 ms that fails every tenth request, three kills, the database stopped for 5 s",
    ],
    held: [
      "every document accepted, with its text",
      "sent twice at most what was in flight, or acknowledged and not yet pushed",
      "a later run from an empty folder sends nothing",
    ],
  };
}
