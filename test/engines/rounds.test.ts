import { describe, expect, it } from "vitest";
import { hasPostgres } from "../postgres.ts";
import { patienceMs } from "../patience.ts";
import { playRound, type Played } from "./rounds.ts";

// `npm test` plays one small round; `npm run prove -- engines` plays whole ones.
const { PROVE_ROUNDS, PROVE_SECONDS = "Infinity", PROVE_SEED = "1" } = process.env;
const isProof = PROVE_ROUNDS !== undefined;

const small = { documents: 250, workers: 3, kills: 1, outageMs: 500, leaseSeconds: 6 };
const whole = { documents: 5000, workers: 3, kills: 3, outageMs: 5000, leaseSeconds: 12 };

describe.runIf(hasPostgres)("three workers on one record in PostgreSQL", () => {
  it(
    "send each document although workers are killed and the database is stopped",
    async () => {
      const played: Played[] = [];
      const rounds = Number(PROVE_ROUNDS ?? "1");
      const end = performance.now() + Number(PROVE_SECONDS) * 1000;
      for (let turn = 0; turn < rounds && performance.now() < end; turn++) {
        const seed = Number(PROVE_SEED) + turn;
        try {
          played.push(await playRound({ ...(isProof ? whole : small), seed }));
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
      expect(played.length).toBeGreaterThan(0);
      const sum = (of: (each: Played) => number): number =>
        played.reduce((all, each) => all + of(each), 0);
      if (!isProof) return;
      console.log(
        `${played.length} rounds, ${sum(({ killed }) => killed)} kills, ${sum(({ twice }) => twice)} sent twice of at most ${sum(({ allowed }) => allowed)}`,
      );
    },
    isProof ? 0 : 3 * patienceMs,
  );
});
