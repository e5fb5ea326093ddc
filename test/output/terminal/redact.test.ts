import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { type Secrets, createSecrets, secretsOf } from "../../../src/output/terminal/redact.ts";
import { parse } from "csv-parse/sync";
import { load } from "js-yaml";
import { type Column, writeList } from "../../../src/output/formats/formats.ts";
import { isInert } from "../../../src/output/terminal/neutralise.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

const secret = "CANARY-key/with+odd=chars é";

function secretsWith(...all: string[]): Secrets {
  const secrets = createSecrets();
  for (const each of all) secrets.add(each);
  return secrets;
}

/** What a gate does: hold back the open end, redact the rest, redact all at the end. */
function stream(secrets: Secrets, pieces: readonly string[]): string {
  let held = "";
  let result = "";
  for (const piece of pieces) {
    const text = held + piece;
    const end = text.length - secrets.openTail(text);
    held = text.slice(end);
    result += secrets.redact(text.slice(0, end));
  }
  return result + secrets.redact(held);
}

describe("redact", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const hexOf = (unit: string): string => unit.charCodeAt(0).toString(16);
  it.each([
    ["plain", `a ${secret} b`],
    ["URL-encoded", `?key=${encodeURIComponent(secret)}&x`],
    [
      "URL-encoded in lower case",
      `?key=${encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())}`,
    ],
    ["URL-encoded form", `key=${encodeURIComponent(secret).replaceAll("%20", "+")}`],
    ["URL-encoded twice", `?key=${encodeURIComponent(encodeURIComponent(secret))}&x`],
    ["as numbers of HTML", secret.replace(/[^]/g, (each) => `&#${each.charCodeAt(0)};`)],
    ["as numbers of HTML in base 16", secret.replace(/[^]/g, (each) => `&#x${hexOf(each)};`)],
    ["the same in capitals", secret.replace(/[^]/g, (each) => `&#x${hexOf(each).toUpperCase()};`)],
    ["escaped as HTML", `<b>${secret.replaceAll("=", "&#x3D;").replaceAll("/", "&#x2F;")}</b>`],
    ["JSON", JSON.stringify({ key: secret })],
    ["JSON with escaped slash", JSON.stringify({ key: secret }).replaceAll("/", "\\/")],
    ["JSON in ASCII", JSON.stringify({ key: secret }).replace("é", "\\u00e9")],
    ["base64", base64(secret)],
    ["base64 after another byte", base64(`:${secret}`)],
    ["base64 of user and password", `Basic ${base64(`admin:${secret}`)}`],
    ["base64 of user and password, other offset", `Basic ${base64(`root:${secret}!`)}`],
    ["base64url", Buffer.from(`k:${secret}`).toString("base64url")],
    ["hexadecimal", Buffer.from(secret).toString("hex")],
    ["coloured in the middle", "CANARY-key/\u001b[1mwith+odd\u001b[22m=chars é"],
    [
      "the address of a link",
      `\u001b]8;;https://x/?k=${encodeURI(secret)}\u001b\\text\u001b]8;;\u001b\\`,
    ],
  ])("replaces it %s", (_name, text) => {
    const shown = secretsWith(secret).redact(text);
    expect(shown).toContain("***");
    expect(shown).not.toMatch(/canary|with.odd|chars/i);
    expect(shown.length).toBeLessThan(text.length);
    for (const offset of ["", "x", "xx"]) {
      const inner = base64(`${offset}${secret}`).slice(8, 24);
      expect(shown).not.toContain(inner);
      expect(shown).not.toContain(inner.replaceAll("+", "-").replaceAll("/", "_"));
    }
  });

  it("replaces it escaped for HTML as any library does", () => {
    const redact = (text: string): string => secretsWith("CANARY&1<2'3\"4").redact(text);
    for (const apostrophe of ["'", "&#39;", "&#x27;", "&#039;"]) {
      const escaped = `a CANARY&amp;1&lt;2${apostrophe}3&quot;4 b`;
      expect(redact(escaped)).toBe("a *** b");
      expect(redact(escaped.replaceAll("&", "&amp;"))).toBe("a *** b");
    }
  });

  it.each([
    ["ab+cd/12=34xyz", "ab&#43;cd/12=34xyz"],
    ["ab+cd/12=34xyz", "ab&#x2B;cd/12=34xyz"],
    ["ab+cd/12=34xyz", "ab+cd&#47;12=34xyz"],
    ["ab+cd/12=34xyz", "ab+cd&#x2F;12&#x3D;34xyz"],
    ["ab+cd/12=34xyz", "ab&#43;cd&#47;12&#61;34xyz"],
    ['ab"cd<12=34xyz', "ab&#34;cd&lt;12=34xyz"],
  ])("replaces %j where a server escapes it as %j", (secret, shown) => {
    expect(secretsWith(secret).redact(`a ${shown} b`)).toBe("a *** b");
  });

  it("keeps escape sequences around and inside a secret", () => {
    expect(secretsWith("secret1").redact("\u001b[2mse\u001b[22mcret1!\u001b[0m")).toBe(
      "\u001b[2m***\u001b[22m!\u001b[0m",
    );
  });

  it("replaces the beginning of a secret at the end of a text after which nothing comes", () => {
    const secrets = secretsWith("CANARY-key-1");
    expect(secrets.redactLast("a CANARY")).toBe("a ***");
    expect(secrets.redactLast("a CAN\u001b[1mARY\u001b[22m")).toBe("a ***\u001b[1m\u001b[22m");
    expect(secrets.redactLast("a CANAR")).toBe("a CANAR");
    expect(secrets.redactLast("a CANARY-key-1 CANARY.")).toBe("a *** CANARY.");
  });

  it("leaves nothing of secrets that overlap", () => {
    expect(secretsWith("abcdef", "defghi").redact("-abcdefghi-")).toBe("-***-");
  });

  it("ignores secrets too short to be one", () => {
    expect(secretsWith("abcde").redact("abcde")).toBe("abcde");
  });

  it("takes any text for a secret", () => {
    expect(() => secretsWith("\ud800-half-a-pair", "new\nline key", "*******")).not.toThrow();
  });

  it("shares the secrets of a context", () => {
    const context = {};
    secretsOf(context).add("shared-secret");
    expect(secretsOf(context).redact("shared-secret")).toBe("***");
  });
});

describe("redact over pieces", () => {
  it("holds back nothing where no secret can begin", () => {
    expect(secretsWith(secret).openTail("all is well.\n")).toBe(0);
    expect(createSecrets().openTail("CANARY-")).toBe(0);
  });

  it("waits when a secret is the beginning of a longer one", () => {
    const secrets = secretsWith("abcdef", "abcdefghi");
    expect(stream(secrets, ["abcdef", "ghi", "."])).toBe("***.");
    expect(stream(secrets, ["abcdef", "x"])).toBe("***x");
  });

  it("gives the same for every way to cut a text", () => {
    const secrets = secretsWith("ababab", "bababacd", "secret-a", "aaaaaaa");
    const alphabet = [
      "a",
      "b",
      "ab",
      "abab",
      "bacd",
      "secret",
      "-a",
      "aaa",
      "\u001b[1m",
      "\u001b[22m",
      "x",
      "\n",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...alphabet), { maxLength: 24 }), (pieces) => {
        const whole = secrets.redact(pieces.join(""));
        expect(stream(secrets, pieces)).toBe(whole);
        const visible = whole.replaceAll(/\u001b\[\d+m/g, "");
        expect(visible).not.toMatch(/ababab|bababacd|secret-a|aaaaaaa/);
      }),
    );
  });
});

interface Row {
  name: string;
  note: string | null;
}

const columns: Column<Row>[] = [
  { name: "name", value: (row) => row.name },
  { name: "note", value: (row) => row.note },
];

/** Text that no gate changes: what a terminal acts on is replaced (neutralise.ts). */
const inert = fc
  .string({ unit: "binary", maxLength: 30 })
  .filter((text) => isInert(text.replace(/[\n\t]/g, "")) && text.isWellFormed());
const odd = fc.constantFrom(
  "=1+1",
  '"',
  "a,b",
  " a ",
  "yes",
  "~",
  "- a",
  "a: b",
  "!!js/x",
  "#",
  "",
);
const rows = fc.array(
  fc.record({ name: fc.oneof(inert, odd), note: fc.option(fc.oneof(inert, odd)) }),
  { minLength: 1, maxLength: 4 },
);

async function written(data: Row[], output: string): Promise<string> {
  const context = createTestContext({ cwd: "/", env: {} });
  await writeList(createOutput(context), { output }, columns, data);
  return context.stdoutText();
}

/** As a spreadsheet shows it: the apostrophe before a formula is not seen. */
const shown = (text: string): string => (/^'[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

it("csv is read back as it was, and no cell is a formula", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (data) => {
      const [header, ...read] = parse(await written(data, "csv")) as string[][];
      expect(header).toEqual(["name", "note"]);
      for (const cell of read.flat()) {
        expect(/^[=+\-@\t\r]/.test(cell) && !/^[-+]?[\d.,]+$/.test(cell)).toBe(false);
      }
      const known = data.filter(({ name }) => !/^'[=+\-@\t\r]/.test(name));
      if (known.length < data.length) return;
      expect(read.map(([name = "", note = ""]) => [shown(name), shown(note)])).toEqual(
        data.map(({ name, note }) => [shown(name), shown(note ?? "")]),
      );
    }),
  );
});

it.each<[string, unknown, unknown]>([
  ["the name of a member", { [secret]: 1 }, { "***": 1 }],
  ["a name deep inside", { a: [{ [`x ${secret}`]: "b" }] }, { a: [{ "x ***": "b" }] }],
  ["a value", { a: [secret] }, { a: ["***"] }],
])("redactAll replaces it in %s", (_name, value, expected) => {
  expect(secretsWith(secret).redactAll(value)).toEqual(expected);
});

it("tsv has a line a row and a cell a column", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (data) => {
      const lines = (await written(data, "tsv")).split("\n");
      expect(lines).toHaveLength(data.length + 1);
      for (const line of lines.slice(0, -1)) expect(line.split("\t")).toHaveLength(2);
    }),
  );
});

it("yaml is read back as it was", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (data) => {
      expect(load(await written(data, "yaml"))).toEqual(data);
    }),
  );
});
