import { describe, expect, it } from "vitest";
import { coverSecrets, createFingerprints, lineAt } from "../../../src/checks/lint/fingerprint.ts";

const finding = { rule: "missing-link", path: "docs/a.md", text: "See [the plan](plan.md)." };

describe("the fingerprint of a finding", () => {
  it("is 16 hexadecimal digits, the same in each run", () => {
    const [first, second] = [createFingerprints()(finding), createFingerprints()(finding)];
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(second).toBe(first);
  });

  it.each([
    ["rule", { ...finding, rule: "missing-image" }],
    ["path", { ...finding, path: "docs/b.md" }],
    ["line", { ...finding, text: "See [the plan](plans.md)." }],
  ])("differs with the %s", (_what, other) => {
    expect(createFingerprints()(other)).not.toBe(createFingerprints()(finding));
  });

  it.each(["  See [the plan](plan.md).  ", "See\t[the  plan](plan.md)."])(
    "ignores white space: %j",
    (text) => {
      expect(createFingerprints()({ ...finding, text })).toBe(createFingerprints()(finding));
    },
  );

  it("tells equal lines of a file apart, whatever else the file contains", () => {
    const print = createFingerprints();
    const both = [print(finding), print(finding)];
    expect(new Set(both).size).toBe(2);
    const later = createFingerprints();
    later({ ...finding, text: "a new finding above" });
    expect([later(finding), later(finding)]).toEqual(both);
  });
});

it.each([
  [0, "one"],
  [2, "one"],
  [3, "one"],
  [4, "two"],
  [7, "two"],
  [8, ""],
  [9, "four"],
  [13, "four"],
])("lineAt finds the line of offset %i", (start, line) => {
  expect(lineAt("one\ntwo\n\nfour", { start, end: start })).toBe(line);
});

describe("coverSecrets", () => {
  const source = "a: hunter2-hunter2\nkey: -----BEGIN\nabc\n-----END\nurl u:pw@h";
  const spanOf = (text: string) => ({
    start: source.indexOf(text),
    end: source.indexOf(text) + text.length,
  });

  it("keeps two characters, line ends and all other offsets", () => {
    const spans = [spanOf("hunter2-hunter2"), spanOf("-----BEGIN\nabc\n-----END"), spanOf("u:pw")];
    expect(coverSecrets(source, spans)).toBe(
      "a: hu*************\nkey: --********\n***\n********\nurl u:**@h",
    );
  });

  it("covers secrets that overlap", () => {
    const spans = [spanOf("hunter2-hunter2"), spanOf("hunter2-")];
    expect(coverSecrets(source, spans)).not.toContain("nter2");
  });

  it("leaves a fingerprint that does not depend on the covered value", () => {
    const print = (line: string, secret: string) => {
      const start = line.indexOf(secret);
      const span = { start, end: start + secret.length };
      const text = lineAt(coverSecrets(line, [span]), span);
      return createFingerprints()({ rule: "password", path: "a.md", text });
    };
    expect(print("pw: abcdefgh", "abcdefgh")).toBe(print("pw: abzzzzzz", "abzzzzzz"));
    expect(print("pw: abcdefgh", "abcdefgh")).not.toBe(print("pw: xycdefgh", "xycdefgh"));
  });
});
