import { neutraliseLine } from "../../../output/terminal/neutralise.ts";

const idsShown = 5;

/** Counts ids and keeps the first five for a message. */
export interface IdSample {
  add(id: string): void;
  count(): number;
  text(): string;
}

export function createIdSample(): IdSample {
  const first: string[] = [];
  let count = 0;
  return {
    add(id) {
      if (++count <= idsShown) first.push(id);
    },
    count: () => count,
    text: () => neutraliseLine(first.join(", ") + (count > idsShown ? ", …" : "")),
  };
}
