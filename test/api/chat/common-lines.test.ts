import { readFileSync, readdirSync } from "node:fs";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { Packet } from "../../../src/api/chat-schemas.ts";
import { commonEvent, parseObject } from "../../../src/api/chat/common-lines.ts";
import { eventBySchemas } from "../../../src/api/chat/packets.ts";

const folder = new URL("../../fixtures/wire/", import.meta.url);
const lines = readdirSync(folder)
  .filter((name) => name.endsWith(".ndjson"))
  .flatMap((name) => readFileSync(new URL(name, folder), "utf8").split("\n"));

/** Types and members that packets have, and some that they have not. */
const types = [...Packet.def.options.flatMap((each) => [...each.shape.type.def.values]), "later"];
const members = [
  ...new Set(Packet.def.options.flatMap((each) => Object.keys(each.shape))),
  "more",
].filter((name) => name !== "type");

const document = fc.record(
  {
    document_id: fc.oneof(fc.string(), fc.constant(null), fc.nat()),
    semantic_identifier: fc.oneof(fc.string(), fc.constant(null), fc.nat()),
    link: fc.oneof(fc.string(), fc.constant(null), fc.boolean()),
    updated_at: fc.oneof(fc.string(), fc.constant(null)),
    more: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.array(document, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const obj = fc
  .tuple(
    fc.constantFrom<unknown>(...types, 7, null),
    fc.dictionary(fc.constantFrom(...members), value),
  )
  .map(([type, rest]) => ({ ...rest, type }));
const index = fc.oneof(
  fc.nat(9),
  fc.integer(),
  fc.constant(null),
  fc.constantFrom("1", 1.5, 1e300),
);
const placement = fc.oneof(
  fc.record(
    { turn_index: index, tab_index: index, sub_turn_index: index, model_index: index, more: value },
    { requiredKeys: [] },
  ),
  value,
);
const id = fc.oneof(index, fc.string(), fc.uuid());
const line = fc.oneof(
  { weight: 4, arbitrary: fc.record({ placement, obj }, { requiredKeys: ["obj"] }) },
  fc.record(
    {
      chat_session_id: id,
      user_message_id: id,
      reserved_assistant_message_id: id,
      responses: value,
      error: value,
      obj: value,
    },
    { requiredKeys: [] },
  ),
);

/** Without a member that the schemas leave out, since it could reach a prototype. */
function withoutProto(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, each: unknown) =>
    name === "__proto__" ? undefined : each,
  );
}

function compare(raw: string): "common" | "left" {
  const parsed = parseObject(raw);
  if (parsed === undefined) return "left";
  const common = commonEvent(raw, parsed);
  if (common === undefined) return "left";
  expect(withoutProto(common)).toEqual(withoutProto(eventBySchemas(raw, parsed)));
  return "common";
}

describe("commonEvent", () => {
  it("says what the schemas say, or leaves the line to them", () => {
    let [common, all] = [0, 0];
    fc.assert(
      fc.property(line, (each) => {
        all++;
        if (compare(JSON.stringify(each)) === "common") common++;
      }),
    );
    // Else the property would hold of nothing.
    expect(common).toBeGreaterThan(all / 25);
  });

  it("says what the schemas say of every wire fixture", () => {
    const results = lines.map(compare);
    expect(results.filter((each) => each === "common").length).toBeGreaterThan(lines.length / 2);
  });

  it("knows an ordinary answer without the schemas", () => {
    const answer = readFileSync(new URL("answer.ndjson", folder), "utf8").trimEnd().split("\n");
    expect(new Set(answer.map(compare))).toEqual(new Set(["common"]));
  });

  it("takes no nested monster and nothing of the prototype", () => {
    const deep = `{"obj":{"type":"section_end","x":${"[".repeat(2000)}${"]".repeat(2000)}}}`;
    expect(parseObject(deep)).toBeUndefined();
    for (const type of ["__proto__", "constructor", "toString"]) {
      expect(compare(JSON.stringify({ obj: { type } }))).toBe("left");
    }
  });
});
