import { describe, expect, it } from "vitest";
import {
  coverSecrets,
  distinctFingerprints,
  fingerprintOf,
  lineAt,
} from "../../../src/checks/lint/place.ts";

const finding = { rule: "missing-link", path: "docs/a.md", text: "See [the plan](plan.md)." };

describe("the fingerprint of a finding", () => {
  it("is 16 hexadecimal digits, and never changes: baselines contain it", () => {
    expect(fingerprintOf(finding)).toBe("426b06a394503a29");
  });

  it.each([
    ["rule", { ...finding, rule: "missing-image" }],
    ["path", { ...finding, path: "docs/b.md" }],
    ["line", { ...finding, text: "See [the plan](plans.md)." }],
  ])("differs with the %s", (_what, other) => {
    expect(fingerprintOf(other)).not.toBe(fingerprintOf(finding));
  });

  it.each(["  See [the plan](plan.md).  ", "See\t[the  plan](plan.md)."])(
    "ignores white space: %j",
    (text) => {
      expect(fingerprintOf({ ...finding, text })).toBe(fingerprintOf(finding));
    },
  );

  it("becomes distinct for equal lines of a file, whatever else was found", () => {
    const { path } = finding;
    const same = { path, fingerprint: fingerprintOf(finding), line: 1 };
    const other = { path, fingerprint: fingerprintOf({ ...finding, text: "other" }), line: 2 };
    const [first, second] = distinctFingerprints([same, same]);
    expect(first).toBe(same);
    expect(second).toEqual({ ...same, fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(second!.fingerprint).not.toBe(same.fingerprint);
    expect([...distinctFingerprints([other, same, same])]).toEqual([other, first, second]);
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
      return fingerprintOf({ rule: "password", path: "a.md", text });
    };
    expect(print("pw: abcdefgh", "abcdefgh")).toBe(print("pw: abzzzzzz", "abzzzzzz"));
    expect(print("pw: abcdefgh", "abcdefgh")).not.toBe(print("pw: xycdefgh", "xycdefgh"));
  });
});
