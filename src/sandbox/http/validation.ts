import * as z from "zod/mini";
import { pythonRepr, pythonTuple } from "./python.ts";
import { json, Refusal } from "./reply.ts";

/** One validation issue, in the wording and members of the service. */
export interface Issue {
  type: string;
  loc: readonly (string | number)[];
  msg: string;
  input: unknown;
}

/** The 422 response: a Python-style dump that echoes the input. observed-service.md 6.3. */
export function refuseBody(issues: readonly Issue[]): Refusal {
  const dumps = issues.map(
    ({ type, loc, msg, input }) =>
      `{'type': ${pythonRepr(type)}, 'loc': ${pythonTuple(loc)}, 'msg': ${pythonRepr(msg)}, ` +
      `'input': ${pythonRepr(input)}}`,
  );
  const count = `${issues.length} validation error${issues.length === 1 ? "" : "s"}`;
  return new Refusal(
    json(422, { status_code: 422, message: `${count}: ${dumps.join(" ")}`, data: null }),
  );
}

const typeTexts: Record<string, readonly [type: string, msg: string]> = {
  string: ["string_type", "Input should be a valid string"],
  int: ["int_type", "Input should be a valid integer"],
  number: ["float_type", "Input should be a valid number"],
  boolean: ["bool_type", "Input should be a valid boolean"],
  array: ["list_type", "Input should be a valid list"],
  record: ["dict_type", "Input should be a valid dictionary"],
  object: [
    "model_attributes_type",
    "Input should be a valid dictionary or object to extract fields from",
  ],
};

function textOf(issue: z.core.$ZodIssue): readonly [string, string] {
  if (issue.code === "invalid_type") {
    return typeTexts[issue.expected] ?? ["value_error", issue.message];
  }
  if (issue.code === "invalid_value") {
    return [
      "enum",
      `Input should be ${issue.values.map((value) => `'${String(value)}'`).join(", ")}`,
    ];
  }
  if (issue.code === "invalid_format") {
    return ["uuid_parsing", "Input should be a valid UUID"];
  }
  if (issue.code === "too_small") {
    return [
      "too_short",
      `List should have at least ${String(issue.minimum)} item after validation`,
    ];
  }
  return ["value_error", `Value error, ${issue.message}`];
}

/** Converts zod's issues about `body` to the form of the service. */
export function issuesOf(error: z.core.$ZodError, body: unknown): Issue[] {
  return error.issues.map((issue) => {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    let input: unknown = body;
    for (const [depth, key] of path.entries()) {
      const inside = typeof input === "object" && input !== null && Object.hasOwn(input, key);
      if (!inside) {
        const absent = depth === path.length - 1;
        return {
          type: "missing",
          loc: ["body", ...path.slice(0, depth + 1)],
          msg: absent ? "Field required" : "Field required (enclosing value)",
          input,
        };
      }
      input = (input as Record<string | number, unknown>)[key];
    }
    const [type, msg] = textOf(issue);
    return { type, loc: ["body", ...path], msg, input };
  });
}

/** Parses a JSON body or throws the 422 Refusal. */
export function parseBody<Schema extends z.core.$ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> {
  const result = z.safeParse(schema, body);
  if (!result.success) throw refuseBody(issuesOf(result.error, body));
  return result.data;
}

/** An integer. Also accepts a text of digits and a boolean, as the service does. */
export const laxInteger = z.pipe(
  z.transform((value: unknown) => {
    if (typeof value === "boolean") return Number(value);
    return typeof value === "string" && /^\s*[+-]?\d{1,15}\s*$/.test(value) ? Number(value) : value;
  }),
  z.int(),
);

/** A number. Also accepts it as text, as the service does. */
export const laxNumber = z.pipe(
  z.transform((value: unknown) =>
    typeof value === "string" && /^\s*[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?\s*$/i.test(value)
      ? Number(value)
      : value,
  ),
  z.number(),
);

/** A UUID in any notation that the service accepts; returns the usual one. */
export const laxUuid = z.pipe(
  z.transform((value: unknown) => {
    if (typeof value !== "string") return value;
    const bare = value.replace(/^urn:uuid:|^\{(?=.*\}$)/i, "").replace(/\}$/, "");
    const digits = bare.replaceAll("-", "").toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(digits)) return value;
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }),
  z.guid(),
);

const booleans: Record<string, boolean> = {
  true: true,
  false: false,
  "1": true,
  "0": false,
  yes: true,
  no: false,
  on: true,
  off: false,
};

/** A boolean. Also accepts the usual words ("false" is false). */
export const laxBoolean = z.pipe(
  z.transform((value: unknown) =>
    typeof value === "string" || typeof value === "number"
      ? (booleans[String(value).toLowerCase()] ?? value)
      : value,
  ),
  z.boolean(),
);
