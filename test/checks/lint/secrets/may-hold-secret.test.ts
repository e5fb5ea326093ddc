import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/checks/lint/secrets/find-secrets.ts";
import { createMayHoldSecret } from "../../../../src/checks/lint/secrets/may-hold-secret.ts";
import { madeUpSecrets, randomFrom, textFor } from "./made-up-secrets.ts";

const bytesOf = (text: string): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({ document: { id: "docs/a.md", sections: [{ text }], metadata: {} } }),
  );
const mayHold = (text: string, keys: string[] = []): boolean =>
  createMayHoldSecret(keys)(bytesOf(text));

// Before a value: what JSON escapes, what UTF-8 writes in several bytes, a letter that lengthens it.
const before = ["", "\n", "\t", '"', "\\", "ü", "漢", "😀", "\u0001", "x ", "`"];

describe("the quick check of an upload", () => {
  it("lets through no text in which a secret is found", () => {
    const missed = madeUpSecrets(31, 2).filter(({ name = "value", value }, index) => {
      const text = `The ${name} = ${before[index % before.length]}${value}\n`;
      return findSecrets(text).length > 0 && !mayHold(text);
    });
    expect(missed).toEqual([]);
  });

  it("sees private keys, and passwords in URLs", () => {
    expect(mayHold("-----BEGIN PRIVATE KEY-----\nabc")).toBe(true);
    expect(mayHold("Private-Lines: 1\nPuTTY-User-Key-File-")).toBe(true);
    for (const name of ["password", "DB_PASSWORD", "Passwd", "pwd", "Pwd"]) {
      expect(mayHold(`${name}: kR7.xw-29Lq`)).toBe(true);
      expect(findSecrets(`${name}: kR7.xw-29Lq`)).toHaveLength(1);
    }
    for (const text of ["curl -u deploy:kp4-tulip-Vx9", "AccountKey=ab+/", "a?sv=1&sig=%2B"]) {
      expect(mayHold(text)).toBe(true);
    }
    expect(mayHold("https://reader:kp-tulip@git.intra.acme.io/")).toBe(true);
  });

  it.each([
    ["of letters", textFor("[A-Za-z0-9]{32}", randomFrom(3))],
    ["of words", 'a "quoted" passphrase'],
    ["of characters in several bytes", "ŁŁŁŁŁŁŁŁ1ŁŁŁŁŁŁŁŁ"],
    ["of characters that look like one in one byte", "\u0141\u0142\u0143".repeat(6) + "7"],
  ])("sees a key %s", (_name, key) => {
    expect(mayHold(`Use ${key}.`, [key])).toBe(true);
  });

  it("passes over texts without one, with their addresses and dates", () => {
    const text =
      "# Leave\n\nAsk ann@example.com until 2026-01-02T00:00:00Z, see internationalization.\n";
    expect(mayHold(text)).toBe(false);
    expect(mayHold(text, [textFor("[a-z0-9]{32}", randomFrom(4))])).toBe(false);
  });
});
