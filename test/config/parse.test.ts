import * as fc from "../property.ts";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { SyntaxProblem, placeOf } from "../../src/config/file/problems.ts";
import { parseConfig } from "../../src/config/file/parse.ts";
import { parseJson, parseYaml } from "../../src/config/file/yaml.ts";
import { CliError } from "../../src/errors.ts";
import { failureOf } from "./support.ts";
import { configJsonSchema } from "../../src/config/values/schema.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../../src/nearest.ts";
import { projectFolder } from "../support.ts";

describe("parse", () => {
  const broken: [name: string, file: string, text: string, message: string][] = [
    [
      "no value",
      "a.json",
      "{",
      'a.json:1:2: expected a key in double quotes or "}", but the file ends',
    ],
    ["unquoted key", "a.json", "{\n  a: 1}", "a.json:2:3: expected a key in double quotes"],
    ["comment", "a.json", '{\n  // why\n  "ingest": {}}', "a.json:2:3: JSON has no comments"],
    ["trailing comma", "a.json", '{"ingest": {},\n}', "a.json:1:14: JSON has no trailing comma"],
    ["missing comma", "a.json", '{"chat": {}\n"ingest": {}}', 'a.json:2:1: expected "," or "}"'],
    ["open string", "a.json", '{"$schema": "x', "a.json:1:13: a string has no closing quote"],
    [
      "line break in a string",
      "a.json",
      '{"$schema": "x\ny"}',
      "a.json:1:13: a string has no closing quote, a line break",
    ],
    [
      "bad escape",
      "a.json",
      '{"$schema": "\\x"}',
      "a.json:1:13: a string has no closing quote, a line break or an invalid escape",
    ],
    ["more after the end", "a.json", "{} {}", "a.json:1:4: expected the end of the file"],
    [
      "no closing brace",
      "a.json",
      '{\n"chat": {"model": "a/b"}\n',
      'a.json:3:1: expected "," or "}", but the file ends',
    ],
    [
      "braces in disorder",
      "a.json",
      '{"ingest": {"include": ["a"}}',
      'a.json:1:28: expected "," or "]"',
    ],
    ["no value of a key", "a.json", '{"chat": }', "a.json:1:10: expected a value"],
    ["single quotes", "a.json", "{'chat': {}}", "a.json:1:2: expected a key in double quotes"],
    ["equals sign", "a.json", '{"chat" = {}}', 'a.json:1:9: expected ":"'],
    ["two commas", "a.json", '{"chat": {},, "lint": {}}', "a.json:1:13: expected a key in double"],
    ["bare word", "a.json", '{"chat": yes}', "a.json:1:10: expected a value"],
    ["leading zero", "a.json", '{"chat": 010}', "a.json:1:10: expected a value"],
    [
      "duplicate key",
      "a.json",
      '{"chat": {},\n "chat": {}}',
      'a.json:2:2: the key "chat" is duplicated',
    ],
    [
      "nested duplicate",
      "a.json",
      '{"chat": {"model": "a/b", "model": "a/c"}}',
      'a.json:1:27: the key "model" is duplicated',
    ],
    ["too deep", "a.json", "[".repeat(5000), "a.json:1:101: nested deeper than 100"],
    [
      "__proto__",
      "a.json",
      '{"__proto__": {"x": 1}}',
      'a.json:1:2: the key "__proto__" is not allowed',
    ],
    [
      "constructor",
      "a.json",
      '{"ingest": {"metadata": {"constructor": 1}}}',
      'a.json:1:26: the key "constructor" is not',
    ],
    [
      "__proto__ in YAML",
      "a.yaml",
      "ingest:\n  metadata:\n    __proto__: {x: 1}\n",
      'a.yaml:3:5: the key "__proto__"',
    ],
    ["list as the whole", "a.json", "[]", "a.json:1:1: expected object, found list"],
    ["text as the whole", "a.yaml", "hello", "a.yaml:1:1: expected object, found string"],
    ["YAML tab", "a.yaml", "ingest:\n\tinclude: [a]", "a.yaml:2:1: "],
    [
      "YAML duplicate",
      "a.yaml",
      "chat: {}\nchat: {}\n",
      'a.yaml:2:1: the key "chat" is duplicated',
    ],
    ["YAML function", "a.yaml", "ingest:\n  link: !!js/function 'x'\n", "a.yaml:2:"],
    ["YAML unknown alias", "a.yaml", "chat: *secretAlias\n", "a.yaml:1:"],
    [
      "unknown key",
      "a.json",
      '{\n  "profile": {}}',
      'a.json:2:3: unknown key profile; did you mean "profiles"?',
    ],
    [
      "unknown key in a profile",
      "a.yaml",
      "profiles:\n  prod:\n    baseURL: https://x\n",
      'a.yaml:3:5: unknown key profiles.prod.baseURL; did you mean "baseUrl"?',
    ],
    [
      "unknown key in a rule",
      "a.yaml",
      "ingest:\n  rules:\n    - match: a\n      metdata: {}\n",
      'a.yaml:4:7: unknown key ingest.rules[0].metdata; did you mean "metadata"?',
    ],
    ["unknown far key", "a.json", '{"zzzzzz": 1}', "a.json:1:2: unknown key zzzzzz"],
    [
      "key of a profile outside of one",
      "a.json",
      '{"baseURL": "https://x"}',
      'a.json:1:2: unknown key baseURL; did you mean "profiles.NAME.baseUrl"?',
    ],
    [
      "wrong type",
      "a.json",
      '{"ingest": {"include": "x"}}',
      "a.json:1:24: ingest.include: expected list, found string",
    ],
    [
      "wrong item",
      "a.yaml",
      "ingest:\n  include:\n    - a\n    - 2\n",
      "a.yaml:4:7: ingest.include[1]: expected string, found number",
    ],
    [
      "not whole",
      "a.json",
      '{"chat": {"personaId": 1.5}}',
      "a.json:1:24: chat.personaId: expected whole number, found number",
    ],
    [
      "too large",
      "a.json",
      '{"ingest": {"concurrency": 300}}',
      "a.json:1:28: ingest.concurrency: expected at most 256",
    ],
    [
      "too small",
      "a.json",
      '{"ingest": {"concurrency": 0}}',
      "ingest.concurrency: expected at least 1",
    ],
    ["empty", "a.json", '{"ingest": {"link": ""}}', "ingest.link: may not be empty"],
    [
      "not of the list",
      "a.json",
      '{"ingest": {"sections": "all"}}',
      "ingest.sections: expected one of whole, headings",
    ],
    [
      "model without provider",
      "a.json",
      '{"chat": {"model": "x"}}',
      "chat.model: expected PROVIDER/VERSION",
    ],
    [
      "secret of a wrong shape",
      "a.json",
      '{"profiles": {"p": {"apiKey": {"enw": "X"}}}}',
      "profiles.p.apiKey: expected a string,",
    ],
    [
      "profile name",
      "a.json",
      '{"profiles": {"a b": {}}}',
      "a.json:1:15: profiles.a b: a profile name may hold",
    ],
  ];

  describe("a broken file names file, line, column and key", () => {
    it.each(broken)("%s", async (_name, file, text, message) => {
      const failure = await failureOf(parseConfig(file, text));
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(message);
    });

    it("all problems are told, the first as the message", async () => {
      const text = '{"chat": {"modle": 1, "personaId": "x"},\n "ingest": {"rate": "fast"}, "x": 1}';
      const failure = await failureOf(parseConfig("a.json", text));
      expect([failure.message, ...failure.details]).toHaveLength(4);
      expect(failure.whole).toContain('unknown key chat.modle; did you mean "model"?');
      expect(failure.whole).toContain("a.json:2:21: ingest.rate: expected number, found string");
    });

    it("no message quotes a value", async () => {
      const secret = "hunter2secret";
      for (const text of [
        `{"profiles": {"p": {"apiKey": ["${secret}"]}}}`,
        `{"profiles": {"p": {"apiKey": "${secret}}}}`,
        `{"profiles": {"p": {"apiKey": '${secret}'}}}`,
        `{"profiles": {"p": {"timeout": "${secret}"}}}`,
      ]) {
        expect((await failureOf(parseConfig("a.json", text))).whole).not.toContain(secret);
      }
      for (const text of [
        `apiKey: *${secret}`,
        `apiKey: !${secret} x`,
        `a: "${secret}`,
        `a: ${secret}: b`,
        `a: {b: "${secret}"`,
      ]) {
        expect((await failureOf(parseConfig("a.yaml", text))).whole).not.toContain(secret);
      }
    });

    it("({}).x stays undefined", async () => {
      await failureOf(parseConfig("a.json", '{"ingest": {"metadata": {"__proto__": {"x": 1}}}}'));
      expect(({} as { x?: number }).x).toBeUndefined();
    });
  });

  describe("what is accepted", () => {
    it.each([
      ["empty", "a.json", ""],
      ["white space", "a.yaml", " \n"],
      ["only a comment", "a.yaml", "# nothing\n"],
      ["byte order mark", "a.json", "\uFEFF{}"],
    ])("%s", async (_name, file, text) => {
      expect((await parseConfig(file, text)).content).toEqual({});
    });

    it("metadata in YAML keeps its text as written", async () => {
      const text =
        "ingest:\n  metadata:\n    version: 1.10\n    date: 2024-01-02\n    flag: NO\n    yes: true\n    octal: 010\n    none: ~\n    list: [1.0, x]\n  rules:\n    - match: a\n      metadata: {v: 2.50}\n";
      const { content } = await parseConfig("a.yaml", text);
      expect(content.ingest?.metadata).toEqual({
        version: "1.10",
        date: "2024-01-02",
        flag: "NO",
        yes: "true",
        octal: "010",
        none: null,
        list: ["1.0", "x"],
      });
      expect(content.ingest?.rules?.[0]?.metadata).toEqual({ v: "2.50" });
    });

    it("an alias bomb is refused at once", async () => {
      const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
      for (let level = 1; level < 9; level++) {
        lines.push(
          `a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(", ")}]`,
        );
      }
      const failure = await failureOf(parseConfig("a.yaml", lines.join("\n")));
      expect(failure.message).toContain("too many values");
    });
  });

  describe("places", () => {
    const yaml =
      '# first\nprofiles:\n  prod: # here\n    baseUrl: >-\n      https://x\n    empty:\n    chat: {personaId: 3, show: [tools, all]}\n  "other":\n    timeout: 5\n';
    it.each([
      [["profiles", "prod", "chat", "personaId"], "7:23"],
      [["profiles", "prod", "chat", "show", 1], "7:40"],
      [["profiles", "other", "timeout"], "9:14"],
    ])("%j", (path, place) => {
      const { line, column } = placeOf(yaml, parseYaml(yaml).offsetOf(path, false));
      expect(`${line}:${column}`).toBe(place);
    });
  });

  describe("properties", () => {
    const anyJson = fc.jsonValue({ maxDepth: 5 });

    it("parseJson agrees with JSON.parse on every JSON text", () => {
      fc.assert(
        fc.property(anyJson, fc.constantFrom(0, 2, "\t"), (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          let node;
          try {
            node = parseJson(text);
          } catch (error) {
            // Poisonous keys are refused on purpose.
            expect(error).toBeInstanceOf(SyntaxProblem);
            expect(text).toMatch(/"(__proto__|constructor|prototype)"/);
            return;
          }
          expect(node.value).toEqual(JSON.parse(text));
        }),
      );
    });

    it("accepts nothing that JSON.parse refuses", () => {
      const pieces = fc.array(
        fc.constantFrom(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          '"a"',
          '"',
          "1",
          "-",
          "01",
          "1.",
          "true",
          "tru",
          " ",
          "\n",
          "\\",
        ),
        { maxLength: 12 },
      );
      fc.assert(
        fc.property(pieces, (parts) => {
          const text = parts.join("");
          try {
            parseJson(text);
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxProblem);
            return;
          }
          expect(() => JSON.parse(text) as unknown).not.toThrow();
        }),
      );
    });

    it("every text ends as a configuration or a CliError", async () => {
      const texts = fc.oneof(
        fc.string(),
        fc.string({ unit: "binary" }),
        anyJson.map((value) => JSON.stringify(value)),
      );
      await fc.assert(
        fc.asyncProperty(
          texts,
          fc.constantFrom("a.json", "a.yaml", ".cliconfig"),
          async (text, file) => {
            try {
              await parseConfig(file, text);
            } catch (error) {
              expect(error).toBeInstanceOf(CliError);
            }
          },
        ),
      );
    });

    it("values of YAML are those of js-yaml", () => {
      fc.assert(
        fc.property(anyJson, (value) => {
          const text = JSON.stringify(value, null, 2);
          fc.pre(!/"(__proto__|constructor|prototype)"/.test(text));
          let expected: unknown;
          try {
            expected = load(text);
          } catch {
            return;
          }
          expect(parseYaml(text).value).toEqual(expected);
        }),
      );
    });
  });
});

describe("bad keys", () => {
  // Every key of a configuration file, from the schema itself: a new one is tested without being named.

  interface Schema {
    type?: string;
    enum?: unknown[];
    minimum?: number;
    maximum?: number;
    properties?: Record<string, Schema>;
    additionalProperties?: Schema | boolean;
    items?: Schema;
    anyOf?: Schema[];
  }

  interface Key {
    path: string[];
    schema: Schema;
  }

  /** Keys below an object; `rules` and `profiles` hold theirs a step further down. */
  function keysOf(schema: Schema, path: string[] = []): Key[] {
    return Object.entries(schema.properties ?? {}).flatMap(([name, each]): Key[] => {
      const here = [...path, name];
      const inside = typeof each.additionalProperties === "object" ? each.additionalProperties : {};
      return [
        { path: here, schema: each },
        ...keysOf(each, here),
        ...(name === "profiles" ? keysOf(inside, [...here, "production"]) : []),
        ...keysOf(each.items ?? {}, [...here, "0"]),
      ];
    });
  }

  const keys = keysOf(configJsonSchema() as Schema);

  /** A file with one value in it; `0` is the first of a list. */
  function fileWith(path: readonly string[], value: unknown): string {
    const [step, ...rest] = path;
    if (step === undefined) return JSON.stringify(value);
    const inner = fileWith(rest, value);
    return step === "0" ? `[\n${inner}\n]` : `{\n${JSON.stringify(step)}: ${inner}\n}`;
  }

  /** Values that the key cannot have, by what its schema says. */
  function wrongValues({ schema }: Key): unknown[] {
    const { type, minimum, maximum, anyOf } = schema;
    const bounds = [
      ...(minimum === undefined ? [] : [minimum - 1]),
      ...(maximum === undefined ? [] : [maximum + 1]),
    ];
    if (type === "string") return [7, true, null, [], {}, ...(schema.enum ? ["nonsense"] : [])];
    if (type === "boolean") return ["yes", 1, null, []];
    if (type === "integer") return ["7", 1.5, null, ...bounds];
    if (type === "number") return ["7", null, ...bounds];
    if (type === "array") return ["text", {}, [7.5], [null]];
    if (type === "object") return ["text", 7, []];
    // One of several forms: a secret, the parts of `chat.show`, a switch or a name.
    const takesSwitch = anyOf?.some((form) => form.type === "boolean") === true;
    return [7, null, { nonsense: "x" }, ...(takesSwitch ? [] : [true])];
  }

  async function failureOf(text: string, path = "/p/a.json"): Promise<CliError> {
    try {
      await parseConfig(path, text);
    } catch (error) {
      expect(error, text).toBeInstanceOf(CliError);
      return error as CliError;
    }
    throw new Error(`was taken: ${text}`);
  }

  const dotted = (path: readonly string[]): string => path.join(".").replaceAll(".0", "[0]");

  describe.each(keys.map((key) => [dotted(key.path), key] as const))("the key %s", (name, key) => {
    it("refuses values of another type and out of range, with its place and a remedy", async () => {
      for (const value of wrongValues(key)) {
        const text = fileWith(key.path, value);
        const error = await failureOf(text);
        expect(error.exit, text).toBe("not-configured");
        expect(error.message, text).toMatch(/^\/p\/a\.json:\d+:\d+: /);
        // A fault in a part of a value is told with the part.
        expect([error.message, ...error.details].join("\n"), text).toContain(name);
        expect(error.hints.length, text).toBeGreaterThan(0);
      }
    });

    it("is suggested where it is mistyped, and not taken twice", async () => {
      const last = key.path.at(-1) ?? "";
      const mistyped = [...key.path.slice(0, -1), `${last}${last.at(-1)}`];
      if (last !== "production") {
        const error = await failureOf(fileWith(mistyped, 1));
        expect(error.message).toContain(`unknown key ${dotted(mistyped)}`);
        expect(error.message).toContain(`did you mean "${last}"?`);
      }
      const member = `${JSON.stringify(last)}: 1`;
      const around = fileWith(key.path.slice(0, -1), "HERE");
      const twice = await failureOf(around.replace('"HERE"', `{\n${member},\n${member}\n}`));
      expect(twice.message).toMatch(/^\/p\/a\.json:\d+:\d+: .*is duplicated/);
      expect(twice.hints.length).toBeGreaterThan(0);
    });
  });

  it("looks at every part of the schema", () => {
    const names = keys.map(({ path }) => dotted(path));
    for (const name of [
      "profiles.production.apiKey",
      "ingest.rules[0].match",
      "ingest.frontMatter.id",
    ])
      expect(names).toContain(name);
    expect(keys.length).toBeGreaterThan(100);
  });
});

describe("example", () => {
  const read = (path: string): string => readFileSync(join(projectFolder, path), "utf8");

  it("the committed JSON Schema is the one of the code", () => {
    const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
    expect(read("schema/cliconfig.schema.json")).toBe(text);
  });

  it("every key of the schema has a description", () => {
    const missing: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      if (typeof schema !== "object" || schema === null) return;
      const { properties } = schema as { properties?: Record<string, object> };
      for (const [name, value] of Object.entries(properties ?? {})) {
        if (
          !("description" in value) &&
          !("properties" in value) &&
          !("additionalProperties" in value)
        ) {
          missing.push(`${path}.${name}`);
        }
        visit(value, `${path}.${name}`);
      }
    };
    visit(configJsonSchema(), "");
    expect(missing).toEqual([]);
  });

  it("the example file is valid", async () => {
    const { content } = await parseConfig(
      ".cliconfig.example.json",
      read(".cliconfig.example.json"),
    );
    expect(Object.keys(content.profiles ?? {})).toEqual(["production", "sandbox"]);
  });

  describe("nearest", () => {
    it.each([
      ["baseURL", "baseUrl"],
      ["base-url", "baseUrl"],
      ["dialcet", "dialect"],
      ["apikey", "apiKey"],
      ["x", undefined],
      ["completely", undefined],
      ["", undefined],
    ])("%s: %s", (word, expected) => {
      expect(nearest(word, ["baseUrl", "dialect", "apiKey", "accessToken"])).toBe(expected);
    });
  });
});
