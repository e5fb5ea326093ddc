import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { messageOf } from "../../../errors.ts";
import { nearest } from "../../../nearest.ts";
import { runWithin } from "../../time-limit.ts";
import type { Word } from "./word.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

// A schema or an answer from outside may take exponential time: patterns, uniqueItems, references.
const limitMs = 1000;
// Values of each type: a schema that refers only to itself never ends on one of them.
const probes = [null, true, 0, "", [], {}];

/** What the validator says of a schema, with the place in the schema in words. */
function compileProblem(ajv: Ajv2020, error: unknown): string {
  if (error instanceof RangeError) return "the schema is nested too deeply, or refers to itself";
  const [invalid] = ajv.errors ?? [];
  if (invalid) return `the schema keyword ${keyPath(invalid.instancePath)} ${invalid.message}`;
  const message = messageOf(error).replace(/^strict mode: /, "");
  const unknown = /^unknown keyword: "(.*)"/s.exec(message)?.[1];
  if (unknown === undefined) return `the schema is not usable: ${message}`;
  const known = nearest(unknown, Object.keys(ajv.RULES.keywords));
  const meant = known === undefined ? "" : `; did you mean "${known}"?`;
  return `the schema keyword ${unknown} is not supported${meant}`;
}

/** A JSON Pointer in the words of a suite: `a.0.b`. */
const keyPath = (pointer: string): string =>
  pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");

/**
 * Compiles a schema (JSON Schema 2020-12). Throws Error with the reason where it would not be
 * applied as written: an unknown keyword or format would let every answer pass. Nothing is
 * fetched: a reference to another document is an error.
 */
function compile(schema: JsonSchema): ValidateFunction {
  const ajv = new Ajv2020({
    ownProperties: true,
    unicodeRegExp: false,
    strictTypes: false,
    strictTuples: false,
    logger: false,
  });
  // Else `toString` and the like count as known keywords.
  Object.setPrototypeOf(ajv.RULES.keywords, null);
  // Other drafts differ little; the validator would look for their own schemas.
  const { $schema: _, ...own } = schema;
  try {
    const checked = runWithin(limitMs, () => {
      const validate = ajv.compile(own);
      // An asynchronous one answers with a promise, which would count as valid.
      if ("$async" in validate) throw new Error("the schema keyword $async is not supported");
      for (const each of probes) validate(each);
      return validate;
    });
    if (!checked) throw new Error("the schema takes too long to check");
    return checked.value;
  } catch (error) {
    throw new Error(compileProblem(ajv, error), { cause: error });
  }
}

// A suite is checked when it is loaded, and its schemas are applied to many answers.
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

function validatorOf(schema: JsonSchema): ValidateFunction {
  const validate = compiled.get(schema) ?? compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** What is wrong with a schema; undefined if it is applied as written. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  try {
    validatorOf(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function mismatchText({ instancePath, message = "does not match" }: ErrorObject): string {
  return instancePath === "" ? message : `${keyPath(instancePath)}: ${message}`;
}

/** The whole answer is JSON, and valid against the schema if there is one. */
export const isJson: Word<true | JsonSchema> = {
  judge(schema, { answer }) {
    let value: unknown;
    try {
      value = JSON.parse(answer);
    } catch {
      return { passed: false, detail: "the answer is not JSON" };
    }
    if (schema === true) return { passed: true };
    const validate = validatorOf(schema);
    try {
      const checked = runWithin(limitMs, () => validate(value) === true);
      if (!checked) return { error: "the JSON Schema takes too long on this answer" };
      const [first] = validate.errors ?? [];
      return { passed: checked.value, detail: first && mismatchText(first) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { error: "the answer is nested too deeply for the JSON Schema" };
    }
  },
};
