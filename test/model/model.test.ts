import { describe, expect, it } from "vitest";
import { prove, type Found } from "./prove.ts";
import type { Dialect } from "./service.ts";

const { env } = process;
const given = (name: string, otherwise: number): number =>
  Number(env[`PROVE_${name}`] ?? otherwise);
const dialects = (["standard", "onyx"] as const).filter(
  (name) => env["PROVE_DIALECT"] === undefined || env["PROVE_DIALECT"] === name,
) satisfies Dialect[];

const textOf = ({ seed, dialect, text }: Found): string => `seed ${seed}, ${dialect}: ${text}`;

/** `npm run prove -- model` sets the variables; without them a few sequences keep the tests quick. */
describe("commands in random order keep the service as the folder is", () => {
  it(
    "plays sequences of commands",
    async () => {
      let count = 0;
      const { sequences, counts, found } = await prove(
        {
          dialects,
          seed: given("SEED", 1),
          sequences: given("SEQUENCES", 4),
          seconds: given("SECONDS", 3600),
          shrinkSeconds: given("SHRINK", 60),
        },
        (each) => {
          if (each) console.log(textOf(each));
          else if (env["PROVE_SECONDS"] !== undefined && ++count % 50 === 0)
            console.log(`${count} sequences`);
        },
      );
      if (env["PROVE_SECONDS"] !== undefined) {
        const names = [...counts].map(([name, times]) => `${times} ${name}`);
        console.log(names.toSorted().join(", "));
        console.log(`${sequences} sequences, ${found.length} violations`);
        for (const { seed, dialect } of found) console.log(`--seed ${seed} --dialect ${dialect}`);
      }
      expect(found.map(textOf)).toEqual([]);
    },
    2 ** 31 - 1,
  );
});
