import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/checks/lint/secrets/find-secrets.ts";
import type { Secret } from "../../../../src/checks/lint/secrets/pack.ts";
import { expectLinear } from "../../../cost.ts";

function find(text: string): Secret | undefined {
  return findSecrets(text).find(({ rule }) => rule === "secret-private-key");
}

const base64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDTgOZ2fP0KSvX1";
const blockOf = (name: string): string =>
  `-----BEGIN ${name}-----\n${base64}\n${base64}\n-----END ${name}-----`;

describe("blocks of private keys", () => {
  it.each([
    "PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "DSA PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ANY PRIVATE KEY",
  ])("%s", (name) => {
    expect(find(blockOf(name))?.kind).toBe(`-----BEGIN ${name}-----`);
  });

  const header = "-----BEGIN RSA PRIVATE KEY-----";
  it.each([
    ["of PGP", `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF0Yz1oBCADVKlm3Vdhp`],
    [
      "of PGP, with headers",
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\nComment: x: y\n\n${base64}`,
    ],
    ["of SSH2", `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "rsa-key"\n${base64}`],
    ["encrypted", `${header}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0AF1\n\n${base64}`],
    ["with CRLF", `${header}\r\n${base64}`],
    ["indented, as in YAML", `key: |\n    ${header}\n    ${base64}`],
    ["quoted", `> ${header}\n> ${base64}`],
    ["in a comment", ` * ${header}\n * ${base64}`],
    ["in a JSON text", JSON.stringify({ private_key: `${header}\n${base64}` })],
    ["in a program", `"${header}\\n" +\n  "${base64}\\n"`],
    [
      "in a string of C that goes on behind a backslash",
      `"${header}\\r\\n" \\\n  "${base64}\\r\\n"`,
    ],
    ["in a Makefile", `KEY = ${header} \\\n  ${base64} \\\n  ${base64}`],
    ["behind a hard break of Markdown", `${header}\\\n${base64}\\\n${base64}`],
    ["in JSON within JSON", JSON.stringify(JSON.stringify({ key: `${header}\n${base64}` }))],
    ["on one line", `${header} ${base64}`],
    ["without line ends", `${header}${base64}-----END RSA PRIVATE KEY-----`],
    ["without its end", `text ${header}\n${base64}`],
    ["in a cell of a table", `| key | ${header}<br>${base64}<br/>${base64} |`],
    [
      "of PuTTY",
      `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${base64}`,
    ],
    [
      "in Base64, as kubectl has it",
      `client-key-data: ${Buffer.from(blockOf("EC PRIVATE KEY")).toString("base64")}`,
    ],
    ["behind another mention", `See ${header}.\n\n${header}\n${base64}`],
  ])("%s", (_name, text) => {
    expect(find(text)).toBeDefined();
  });

  it.each([
    ["a mention", `A key begins with ${header} and ends in a line of its own.`],
    ["a mention in code", `Look for \`${header}\` in /etc/ssl/private/keys/server/example.`],
    [
      "a placeholder on one line",
      `${header}YOUR-PRIVATE-KEY-COMES-HERE-IN-BASE64-AND-ENDS-WITH-----END`,
    ],
    ["a placeholder", `${header}\n...\n-----END RSA PRIVATE KEY-----`],
    ["a placeholder in brackets", `${header}\n<your key here>\n-----END RSA PRIVATE KEY-----`],
    [
      "the headers of an abridged key",
      `${header}\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,F23074E02CF47304\n-----END RSA PRIVATE KEY-----`,
    ],
    ["a public key of PuTTY", `PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\n${base64}`],
    ["a certificate in Base64", Buffer.from(blockOf("CERTIFICATE")).toString("base64")],
    [
      "a placeholder in Base64",
      Buffer.from(`${header}\n-----END RSA PRIVATE KEY-----\n${base64}`).toString("base64"),
    ],
    ["a public key", blockOf("PUBLIC KEY")],
    ["a certificate", blockOf("CERTIFICATE")],
    ["a public key of PGP", blockOf("PGP PUBLIC KEY BLOCK")],
    ["the words", "A PRIVATE KEY is private."],
  ])("are not %s", (_name, text) => {
    expect(find(text)).toBeUndefined();
  });

  it.each([
    "-",
    " ",
    "A ",
    "\\",
    "\\n",
    "Version: ",
    `${header} `,
    `${header}\\`,
    `${header}\n${" ".repeat(39)}`,
    `${header}${"\\n".repeat(20)}A: `,
  ])("are looked for in the time of the text's length: many times %j", (part) => {
    expectLinear(Math.ceil(400_000 / part.length), (count) => {
      expect(find(`${part.repeat(count)}PRIVATE KEY`)).toBeUndefined();
    });
  });
});
