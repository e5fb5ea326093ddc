import { describe, expect, it } from "vitest";
import { alignWords } from "../../../src/checks/lint/page/align.ts";
import {
  coverSecrets,
  disablesIn,
  distinctFingerprints,
  fingerprintOf,
  isDisabled,
  lineAt,
  placeFindings,
} from "../../../src/checks/lint/place.ts";

describe("disables", () => {
  /** The lines on which the rule `r` is off. */
  function linesOff(text: string): number[] {
    const disables = disablesIn(text);
    let offset = 0;
    const off: number[] = [];
    for (const [index, line] of text.split("\n").entries()) {
      if (isDisabled(disables, "r", offset)) off.push(index + 1);
      offset += line.length + 1;
    }
    return off;
  }

  describe("knowctl-disable-next-line", () => {
    it.each([
      ["Markdown", "<!-- knowctl-disable-next-line r -- why -->\nx\ny\n", [2]],
      ["without a reason", "<!-- knowctl-disable-next-line r -->\nx\ny\n", [2]],
      ["several rules", "<!-- knowctl-disable-next-line a,r , b -- why -->\nx\n", [2]],
      ["another rule", "<!-- knowctl-disable-next-line a -- not r -->\nx\n", []],
      ["blank lines between", "<!-- knowctl-disable-next-line r -->\n\n\nx\ny\n", [4]],
      ["CRLF", "<!-- knowctl-disable-next-line r -- why -->\r\nx\r\ny\r\n", [2]],
      ["MDX", "{/* knowctl-disable-next-line r -- why */}\nx\ny\n", [2]],
      ["reStructuredText", ".. knowctl-disable-next-line r -- why\n\nx\ny\n", [3]],
      ["AsciiDoc", "// knowctl-disable-next-line r -- why\nx\ny\n", [2]],
      ["a fence", "<!-- knowctl-disable-next-line r -->\n```sh\na\n\nb\n```\ny\n", [2, 3, 4, 5, 6]],
      [
        "a block of AsciiDoc",
        "// knowctl-disable-next-line r\n[source]\n----\na\n----\ny",
        [2, 3, 4, 5],
      ],
      [
        "a directive of reStructuredText",
        ".. knowctl-disable-next-line r\n\n.. code-block:: sh\n\n   a\n\n   b\ny",
        [3, 4, 5, 6, 7],
      ],
      ["text in code", "```\n<!-- knowctl-disable-next-line r -->\nx\n```\n", []],
      ["a comment within a line", "x <!-- knowctl-disable-next-line r -->\nx\n", []],
      ["the last line", "x\n<!-- knowctl-disable-next-line r -->", []],
    ])("%s", (_name, text, lines) => {
      const ownLine = text.split("\n").findIndex((line) => line.includes("knowctl-")) + 1;
      expect(linesOff(text).filter((line) => line !== ownLine)).toEqual(lines);
    });

    it("knows where each rule is named", () => {
      const text = "a\n<!-- knowctl-disable-next-line one, two -- three -->\nx\n";
      const names = disablesIn(text).flatMap(({ rules }) =>
        rules.map(({ name, start, end }) => [name, text.slice(start, end)]),
      );
      expect(names).toEqual([
        ["one", "one"],
        ["two", "two"],
      ]);
    });
  });
});

describe("fingerprint", () => {
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

  it("lineAt finds what is around an offset of a long line", () => {
    const line = "abc".repeat(2000);
    expect(lineAt(`${line}\n${line}`, { start: 9001, end: 9002 })).toBe(line.slice(2000, 4000));
  });

  it("words behind half a million others have no place", () => {
    const before = "a ".repeat(400_000);
    expect(alignWords("zebra", `${before}zebra`, 0)(0, 5).own).toBe(800_000);
    expect(alignWords("zebra", `${before}${before}zebra`, 0)(0, 5).own).toBeUndefined();
  });

  it("findings without a place that say the same are one", () => {
    const rule = {
      name: "r",
      group: "content",
      severity: "warning",
      summary: "",
      advice: "",
      bad: "",
      good: "",
    } as const;
    const raw = ["a", "b", "a"].map((message) => ({
      rule,
      severity: "warning" as const,
      found: { message },
    }));
    const messagesOf = (file: Parameters<typeof placeFindings>[0]) =>
      placeFindings(file, raw).map(({ message }) => message);
    expect(messagesOf({ path: "a.epub", source: undefined })).toEqual(["a, 2 times", "b"]);
    expect(messagesOf({ path: "a.md", source: "a b a" })).toEqual(["a", "b", "a"]);
  });

  describe("coverSecrets", () => {
    const source = "a: hunter2-hunter2\nkey: -----BEGIN\nabc\n-----END\nurl u:pw@h";
    const spanOf = (text: string) => ({
      start: source.indexOf(text),
      end: source.indexOf(text) + text.length,
    });

    it("keeps two characters, line ends and all other offsets", () => {
      const spans = [
        spanOf("hunter2-hunter2"),
        spanOf("-----BEGIN\nabc\n-----END"),
        spanOf("u:pw"),
      ];
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
});
