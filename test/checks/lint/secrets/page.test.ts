import "../../../documents/folder.ts";
import { describe, expect, it } from "vitest";
import { byCause } from "../../../../src/checks/lint/folder.ts";
import { findingWith } from "../finding.ts";
import { check, lint as lintPages, openPages } from "../rules/pages.ts";
import type { LintSetup } from "../../../../src/checks/lint/examine.ts";
import { secretsRules } from "../../../../src/checks/lint/rules/secrets.ts";
import { type RawSettings, compileSettings } from "../../../../src/documents/map/settings.ts";
import { mappingKey } from "../../../../src/documents/map/effective.ts";
import { inspectFile, reportOf } from "../inspected.ts";
import { madeUpSecrets, randomFrom, textFor } from "./made-up-secrets.ts";
import { findSecrets } from "../../../../src/checks/lint/secrets/find-secrets.ts";
import type { Secret } from "../../../../src/checks/lint/secrets/pack.ts";
import { expectLinear } from "../../../cost.ts";

describe("page", () => {
  const key = 'a "quoted" \\ passphrase with ü';
  const only = secretsRules.map(({ name }) => name);
  const lint: LintSetup = { config: {}, only, keys: [key, "16-characters...", "15-characters.."] };
  const upload: LintSetup = { ...lint, refuses: "secrets" };
  const token = `onyx_pat_${textFor("[A-Za-z0-9]{43}", randomFrom(1))}`;

  async function refusalOf(text: string, path = "a.md", more?: Omit<RawSettings, "root">) {
    const prepared = await inspectFile(path, text, upload, more);
    return prepared.kind === "failed" ? prepared.reason : undefined;
  }

  async function found(text: string, path = "a.md") {
    const { findings } = await reportOf(path, text, lint);
    return findings
      .filter(({ rule }) => rule.startsWith("secret-"))
      .map(({ rule, line, column, message }) => [rule, line, column, message]);
  }

  describe("keys of the profile", () => {
    const message = `it contains a key of a profile ("a …", ${key.length} characters)`;

    it("are found word for word, from 16 characters on", async () => {
      expect(await found(`# A\n\nUse ${key}.\n`)).toEqual([["secret-own-key", 3, 5, message]]);
      expect(await found(`# A\n\nUse ${key.slice(1)} and 15-characters..\n`)).toEqual([]);
      expect(await found("# A\n\nUse 16-characters....\n")).toHaveLength(1);
      expect(await refusalOf(`# A\n\nUse ${key}.\n`)).toBe(
        `a.md:3:5: ${message} (secret-own-key); remove it, or send it with --allow-secrets`,
      );
    });
  });

  describe("the rules about secrets", () => {
    it("refuse a document by what is sent, and show all of the file in lint", async () => {
      const comment = `<!-- ${token} --><p>Text.</p>\n`;
      expect(await refusalOf(comment, "a.html")).toBeUndefined();
      const message = 'it contains a key of the service (access token, "on…", 52 characters)';
      expect(await found(comment, "a.html")).toEqual([["secret-service-key", 1, 6, message]]);
      expect(await refusalOf(`# A\n\n\`${token}\`\n`)).toContain("a.md:3:2: it contains a key of");
    });

    it("name a value at many places once", async () => {
      const other = `onyx_pat_${textFor("[A-Za-z0-9]{43}", randomFrom(2))}`;
      const uses = (value: string, count: number): string => `Use \`${value}\`.\n\n`.repeat(count);
      const files = { "a.md": uses(token, 3) + uses(other, 3), "b.md": uses(token, 1) };
      const rule = secretsRules.find(({ name }) => name === "secret-service-key")!;
      const found = check(rule, await openPages(files)).map((each) => findingWith(each));
      expect(JSON.stringify(found)).not.toContain(token.slice(10));
      const message = 'it contains a key of the service (access token, "on…", 52 characters)';
      expect(byCause(found).map((each) => each.message)).toEqual([
        `${message}; 4 places show it`,
        `${message}; 3 places show it`,
      ]);
      expect(byCause(found.slice(2, 4)).map((each) => each.message)).toEqual([message, message]);
    });

    it("find a value once in what the page includes", async () => {
      const part = `\nUse \`${token}\`.\n`;
      const files = {
        "_part.adoc": part,
        "a.adoc": `= A\n${"\n== B\n\ninclude::_part.adoc[]\n".repeat(3)}`,
      };
      const rule = secretsRules.find(({ name }) => name === "secret-service-key")!;
      const places = (await lintPages(rule, files)).filter((line) => line.startsWith("a.adoc"));
      expect(places).toEqual([
        'a.adoc: it contains a key of the service (access token, "on…", 52 characters)',
      ]);
    });

    it("know the names of values in front matter", async () => {
      const value = textFor("[A-Za-z0-9]{40}", randomFrom(2));
      const text = `---\napi_key: ${value}\n---\n# A\n\nText.\n`;
      expect(await refusalOf(text)).toContain(
        'a.md:2:10: it contains a secret (generic-api-key, "',
      );
      expect(await refusalOf(text.replace("api_key", "checksum"))).toBeUndefined();
    });

    it("say how many more there are to remove", async () => {
      const other = textFor("[A-Za-z0-9]{40}", randomFrom(3));
      const text = `# A\n\n${token}\n\napi_key: ${other}\n`;
      expect(await refusalOf(text)).toContain("; remove it and 1 more (`knowctl lint` lists each)");
      expect(await refusalOf(`# A\n\n${token}\n`)).toContain("; remove it, or send");
    });

    it("read binary formats and rows as documents", async () => {
      const { findings } = await reportOf("a.html", `<p>${token}</p>`, lint);
      expect(findings).toMatchObject([{ rule: "secret-service-key", line: 1, column: 4 }]);
    });

    it("let pass what the settings allow, without a file being read again for that", async () => {
      const text = `# A\n\n${token}\n`;
      const allowed = { allowSecrets: ["docs/**", "!docs/b.md"] };
      expect(await refusalOf(text, "docs/a.md", allowed)).toBeUndefined();
      expect(await refusalOf(text, "docs/b.md", allowed)).toBeDefined();
      expect(await refusalOf(text, "a.md", allowed)).toBeDefined();
      expect(await refusalOf(text, "a.md", { allowSecrets: true })).toBeUndefined();
      const keyOf = (allowSecrets?: string[]): string =>
        mappingKey("a.md", compileSettings({ root: "/", allowSecrets }));
      expect(keyOf(["docs/**"])).toBe(keyOf());
    });

    it("show two characters of a value at most", async () => {
      const secrets = madeUpSecrets(5, 1);
      const lines = secrets.map(({ name = "value", value }) => `${name}: ${value}\n`);
      const shown = (await found(`# A\n\n${lines.join("\n")}`)).map((each) => each.join(" "));
      expect(shown).toHaveLength(secrets.length);
      const sample = lines.filter((_, index) => index % 20 === 0);
      const refusals = await Promise.all(sample.map((line) => refusalOf(`# A\n\n${line}`)));
      const all = [...shown, ...refusals].join("\n");
      for (const { kind, value } of secrets) {
        for (let at = 0; at + 8 <= value.length; at++) {
          const part = value.slice(at, at + 8);
          if (!kind.includes(part)) expect(all, kind).not.toContain(part);
        }
      }
    });

    it("have examples that they find, and examples that they do not", async () => {
      for (const { name, bad, good } of secretsRules) {
        expect(await found(good), name).toEqual([]);
        if (name === "secret-own-key") continue;
        expect(
          (await found(bad)).map(([rule]) => rule),
          name,
        ).toEqual([name]);
      }
    });
  });
});

describe("private keys", () => {
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
      ["the begin of one", `${header}\nMIIEvAIBADANBgkqhki....\n-----END RSA PRIVATE KEY-----`],
      ["the begin of one in a string", `"${header}\\nMIIEvAIBADANBgkqhki…\\n-----END`],
      [
        "the lines of one before dots",
        `  ${header}\n  ${base64}\n  ${base64}\n  ...\n  -----END RSA PRIVATE KEY-----`,
      ],
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
});
