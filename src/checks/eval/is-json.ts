import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { messageOf } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { runWithin } from "../time-limit.ts";
import type { Suite, SuiteProblem } from "./suite/suite.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

// A schema or an answer from outside may take exponential time: patterns, uniqueItems, references.
const limitMs = 1000;
// Values of each type: a schema that refers only to itself never ends on one of them.
const probes = [null, true, 0, "", [], {}];

/** What the validator says of a schema, with the place in the schema in words. */
function compileProblem(ajv: Ajv2020, error: unknown, invalid: ErrorObject | undefined): string {
  if (error instanceof RangeError) return "the schema is nested too deeply, or refers to itself";
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

const options = {
  ownProperties: true,
  unicodeRegExp: false,
  strictTypes: false,
  strictTuples: false,
  logger: false,
} as const;

/** Judges schemas by the schema of schemas: to compile that one is most of the work for a schema. */
let judge: Ajv2020 | undefined;

/**
 * Compiles a schema (JSON Schema 2020-12). Throws Error with the reason where it would not be
 * applied as written: an unknown keyword or format would let every answer pass. Nothing is
 * fetched: a reference to another document is an error.
 */
function compile(schema: JsonSchema, Ajv: typeof Ajv2020): ValidateFunction {
  const ajv = new Ajv({ ...options, validateSchema: false });
  // Else `toString` and the like count as known keywords.
  Object.setPrototypeOf(ajv.RULES.keywords, null);
  judge ??= new Ajv(options);
  // Compiles the schema of schemas: on a busy machine this alone would use the limit up.
  void judge.validateSchema({});
  // Other drafts differ little; the validator would look for their own schemas.
  const { $schema: _, ...own } = schema;
  let invalid: ErrorObject | undefined;
  try {
    const checked = runWithin(limitMs, () => {
      if (judge?.validateSchema(own) === false) {
        invalid = judge.errors?.[0];
        throw new Error("the schema is invalid");
      }
      const validate = ajv.compile(own);
      // An asynchronous one answers with a promise, which would count as valid.
      if ("$async" in validate) throw new Error("the schema keyword $async is not supported");
      for (const each of probes) validate(each);
      return validate;
    });
    if (!checked) throw new Error("the schema takes too long to check");
    return checked.value;
  } catch (error) {
    throw new Error(compileProblem(ajv, error, invalid), { cause: error });
  }
}

/** The validators of the schemas of loaded suites. */
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/** Compiles a schema for checkJson(). Returns what is wrong with it; undefined if it is applied as written. */
export async function schemaProblem(schema: JsonSchema): Promise<string | undefined> {
  // Large, and few suites have schemas.
  const { Ajv2020: Ajv } = await import("ajv/dist/2020.js");
  try {
    compiled.set(schema, compile(schema, Ajv));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Compiles the schemas of a suite, and returns what is wrong with them. */
export async function schemaProblems({ cases }: Suite): Promise<SuiteProblem[]> {
  const problems: SuiteProblem[] = [];
  for (const { word, isNot, value, place } of cases.flatMap(({ expect }) => expect)) {
    if (word !== "is-json" || value === true) continue;
    const problem = await schemaProblem(value as JsonSchema);
    const name = isNot ? "not-is-json" : word;
    if (problem !== undefined) problems.push({ place, message: `${name}: ${problem}` });
  }
  return problems;
}

function mismatchText({ instancePath, message = "does not match" }: ErrorObject): string {
  return instancePath === "" ? message : `${keyPath(instancePath)}: ${message}`;
}

/** Whether the whole answer is JSON, and valid against the schema if there is one. */
export function checkJson(
  schema: true | JsonSchema,
  { answer }: { answer: string },
): { passed: boolean; detail?: string | undefined } | { error: string } {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return { passed: false, detail: "the answer is not JSON" };
  }
  if (schema === true) return { passed: true };
  const validate = compiled.get(schema);
  if (!validate) throw new Error("a schema of no loaded suite");
  try {
    const checked = runWithin(limitMs, () => validate(value) === true);
    if (!checked) return { error: "the JSON Schema takes too long on this answer" };
    const [first] = validate.errors ?? [];
    return { passed: checked.value, detail: first && mismatchText(first) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { error: "the answer is nested too deeply for the JSON Schema" };
  }
}
