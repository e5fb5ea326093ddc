import type { PageFact, PageFacts } from "../rule.ts";
import { createNumbersByHash, hashText } from "../store/numbers-by-hash.ts";

/**
 * Pairs each fact whose key an earlier one has with the first of them. Facts without a key are
 * ignored. Linear in their number; a first one is read again, so that no key stays in memory.
 */
export function* findRepeated<Fact>(
  facts: PageFacts<Fact>,
  keyOf: (fact: PageFact<Fact>) => string | undefined,
): Generator<[later: PageFact<Fact>, first: PageFact<Fact>]> {
  const firsts = createNumbersByHash();
  const firstOf = (key: string, hash: number): PageFact<Fact> | undefined => {
    for (const place of firsts.of(hash)) {
      const fact = facts.at(place);
      if (keyOf(fact) === key) return fact;
    }
    return undefined;
  };
  for (const fact of facts) {
    const key = keyOf(fact);
    if (key === undefined) continue;
    const hash = hashText(key);
    const first = firstOf(key, hash);
    if (first) yield [fact, first];
    else firsts.add(hash, fact.place);
  }
}
