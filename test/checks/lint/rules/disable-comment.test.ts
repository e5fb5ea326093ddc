import { expect, it } from "vitest";
import { reportOf } from "../inspected.ts";

it.each([
  ["emty", ['2:32 unknown rule "emty"; did you mean "empty"?']],
  ["empty, no-such-rule-at-all", ['2:39 unknown rule "no-such-rule-at-all"']],
  ["empty -- emty", []],
  // What is no name may be a piece of a secret.
  ["KEY-----MIIEvQIBADANBg/+", ['2:32 unknown rule "KE…"']],
  ["M".repeat(64), ['2:32 unknown rule "MM…"']],
])("finds an unknown rule in a comment: %s", async (names, expected) => {
  const text = `# A\n<!-- knowctl-disable-next-line ${names} -->\nText.\n`;
  const checks = { config: {}, only: ["disable-comment"], keys: [] };
  const { findings } = await reportOf("a.md", text, checks);
  expect(findings.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual(
    expected,
  );
});
