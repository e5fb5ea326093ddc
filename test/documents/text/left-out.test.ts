import { expect, it } from "vitest";
import { createLeftOutLog } from "../../../src/documents/text/left-out.ts";
import { expectLinear } from "../../cost.ts";

it("names line and construct, and cuts long ones", () => {
  const log = createLeftOutLog("a\nb\n\nc", 3);
  log.add("include", "x", 0);
  log.add("shortcode", `y\n  ${"z".repeat(100)}`, 5);
  expect(log.entries).toEqual([
    { kind: "include", what: "x", line: 3 },
    { kind: "shortcode", what: `y ${"z".repeat(58)}…`, line: 6 },
  ]);
});

it("costs the length of the text once, also without line breaks", () => {
  expectLinear(400_000, (size) => {
    const log = createLeftOutLog("x".repeat(4 * size), 1);
    for (let at = 0; at < size; at++) log.add("expression", "x", 4 * at);
  });
});
