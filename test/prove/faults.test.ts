import { expect, test } from "vitest";
// @ts-expect-error A script without types.
import { casesOf, playCase } from "../../scripts/prove/faults.js";
import { someOf } from "../property.ts";

interface Case {
  name: string;
  sequence: string;
  attempts: number;
  exit: number;
  sent: number;
}

const cases = casesOf() as Case[];
const play = playCase as (each: Case) => Promise<string[]>;

/** Those that retry again and again wait for seconds. */
const quick = cases.filter(({ attempts }) => attempts <= 2);

test("classes of requests meet faults as the table says", async () => {
  expect(cases.length).toBeGreaterThan(300);
  const some = someOf(quick, 8);
  const found = await Promise.all(some.map(play));
  for (const [at, { name, sequence }] of some.entries()) {
    expect(found[at], `${name} ${sequence}`).toEqual([]);
  }
});

test("a table that says something else is contradicted", async () => {
  const healthy = cases.find(({ name, sequence }) => name === "list" && sequence === "healthy")!;
  const refused = cases.find(({ name, sequence }) => name === "ingest" && sequence === "400")!;
  const [attempts, sent] = await Promise.all([
    play({ ...healthy, attempts: 2 }),
    play({ ...refused, sent: 1 }),
  ]);
  expect(attempts[0]).toContain("1 attempts and exit 0, not 2 and 0");
  expect(sent[0]).toContain("the state records 0 documents as sent");
});
