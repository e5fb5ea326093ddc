import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { createCredentialMask, maskCredentials } from "../../src/output/mask-json.ts";

const hidden = new Set(["credential_json", "connector_specific_config"]);

/** The same on the parsed value. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]: [string, unknown]) => [
      name,
      hidden.has(name) && each !== null ? "***" : masked(each),
    ]),
  );
}

describe("maskCredentials", () => {
  it.each([
    ['{"credential_json":{"a":"}","b":[1]},"x":1}', '{"credential_json":"***","x":1}'],
    ['{"credential_json" : "a\\"b" , "x":1}', '{"credential_json" : "***" , "x":1}'],
    ['{"credential_json":12.5}', '{"credential_json":"***"}'],
    ['{"credential_json":null,"x":true}', '{"credential_json":null,"x":true}'],
    ['{"credential_json":""}', '{"credential_json":"***"}'],
    ['{"credential_json":{}}', '{"credential_json":"***"}'],
    ['{"credential\\u005fjson":"s"}', '{"credential\\u005fjson":"***"}'],
    ['{"x":"credential_json","y":1}', '{"x":"credential_json","y":1}'],
    [
      'data: {"connector_specific_config":[1,2]}\n\n',
      'data: {"connector_specific_config":"***"}\n\n',
    ],
    ['{"credential_json":"cut', '{"credential_json":"***"'],
    ['{"credential_json":tru', '{"credential_json":"***"'],
    ["no JSON: at all", "no JSON: at all"],
  ])("%s", (json, expected) => {
    expect(maskCredentials(json)).toBe(expected);
  });

  it("does the same for any JSON, cut anywhere", () => {
    const names = fc.constantFrom("credential_json", "connector_specific_config", "a", 'b"\\:');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 1.5, "", "x", 'a"}\\', "credential_json"),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(names, tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.array(fc.nat(60)), fc.constantFrom(0, 2), (given, cuts, indent) => {
        const json = JSON.stringify(given, undefined, indent);
        const mask = createCredentialMask();
        const places = [0, ...cuts.toSorted((a, b) => a - b), json.length];
        const pieces = places.slice(1).map((end, at) => mask(json.slice(places[at], end)));
        const text = pieces.join("") + mask(undefined);
        expect(JSON.parse(text)).toEqual(masked(given));
      }),
    );
  });
});
