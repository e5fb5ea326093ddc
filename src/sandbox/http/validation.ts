import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import * as z from "zod/mini";
import { parseTimestamp } from "../store/documents.ts";
import type { Call } from "./call.ts";
import type { Filters } from "../store/index/search.ts";

/**
 * Formats values as Python prints them. The service uses such texts in stored metadata values, in
 * lists of names and in its 422 responses: observed-service.md 3.2, 6.3 and 12.3.
 */

const maxDepth = 100;

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\'"\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\\" || character === quote) return `\\${character}`;
    if (character === "'" || character === '"') return character;
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
    if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, "0")}`;
    return `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return quote + escaped + quote;
}

/** `repr(value)` of a value parsed from JSON. */
export function pythonRepr(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return "...";
  if (depth > maxDepth) return "...";
  if (Array.isArray(value)) {
    return `[${value.map((item) => pythonRepr(item, depth + 1)).join(", ")}]`;
  }
  const members = Object.entries(value).map(
    ([key, item]) => `${quoted(key)}: ${pythonRepr(item, depth + 1)}`,
  );
  return `{${members.join(", ")}}`;
}

/** `str(value)`: like `repr`, but a string stays unchanged. */
export function pythonString(value: unknown): string {
  return typeof value === "string" ? value : pythonRepr(value);
}

export type DialectName = "standard" | "onyx";

/** Ends a request with this JSON body. */
export const refusal = (status: ContentfulStatusCode, body: unknown): HTTPException =>
  new HTTPException(status, { res: Response.json(body, { status }) });

/** The classic error body; observed-service.md 6.2. */
export const detail = (status: ContentfulStatusCode, text: string): HTTPException =>
  refusal(status, { detail: text });

/** An error with its own code in the `onyx` dialect, else the classic body. */
export function problem(
  dialect: DialectName,
  status: ContentfulStatusCode,
  code: string,
  text: string,
): HTTPException {
  return dialect === "onyx"
    ? refusal(status, { error_code: code, detail: text })
    : detail(status, text);
}

interface Problem {
  code: string;
  path: readonly PropertyKey[];
  message: string;
  input?: unknown;
}

/** A problem in the form that the service prints, with plain words: observed-service.md 6.3. */
function dumpOf(place: string, { code, path, message, input }: Problem): string {
  const loc = [...place.split("."), ...path].map(pythonRepr).join(", ");
  const type = input === undefined ? "missing" : code === "invalid_value" ? "enum" : code;
  // The service repeats whole objects, which nobody reads.
  const repeated = typeof input === "object" ? "" : `, 'input': ${pythonRepr(input)}`;
  return `{'type': '${type}', 'loc': (${loc}), 'msg': ${pythonRepr(message)}${repeated}}`;
}

/** The refusal of a part of a request, which the place names. */
export const invalidRequest = (place: string, problems: readonly Problem[]): HTTPException =>
  refusal(422, {
    status_code: 422,
    message: `${problems.length} validation error${problems.length === 1 ? "" : "s"}: ${problems
      .slice(0, 20)
      .map((problem) => dumpOf(place, problem))
      .join(" ")}`,
    data: null,
  });

function wordsOf(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return "Field required";
  if (issue.code === "invalid_type") return `Not a valid ${String(issue["expected"])}`;
  if (issue.code !== "invalid_value") return `Not valid (${issue.code})`;
  return `Not one of ${(issue["values"] as unknown[]).map((value) => `'${String(value)}'`).join(", ")}`;
}

/** Parses a part of a request, or throws the refusal with status 422. */
export function parse<Schema extends z.core.$ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
): z.output<Schema> {
  const result = z.safeParse(schema, value, { error: wordsOf, reportInput: true });
  if (result.success) return result.data;
  throw invalidRequest(place, result.error.issues as readonly Problem[]);
}

/** The JSON body of a request. Throws the refusal with status 422. */
export const bodyOf = <Schema extends z.core.$ZodType>(c: Call, schema: Schema): z.output<Schema> =>
  parse(schema, c.env.json(), "body");

/** The query. Throws the refusal with status 422. */
export const queryOf = <Schema extends z.core.$ZodType>(
  c: Call,
  schema: Schema,
): z.output<Schema> => parse(schema, c.req.query(), "query");

/** The integer of a `:name` segment. Throws the refusal with status 422. */
export const pathInteger = (c: Call, name: string): number =>
  parse(laxInteger, c.req.param(name), `path.${name}`);

/** The UUID of a `:name` segment, in its usual notation. Throws the refusal with status 422. */
export const pathUuid = (c: Call, name: string): string =>
  parse(laxUuid, c.req.param(name), `path.${name}`);

/** What the query of a listing names: pages of `size` unless it says otherwise, of at most `max`. */
export const pages = (size: number, max = Infinity) =>
  z.object({
    page_num: z._default(laxInteger.check(z.gte(0)), 0),
    page_size: z._default(laxInteger.check(z.gte(1), z.lte(max)), size),
  });

/** One page of a listing, numbered from 0, as the query selects it. */
export function pageOf(
  c: Call,
  rows: readonly unknown[],
  schema: ReturnType<typeof pages>,
): Response {
  const { page_num, page_size } = queryOf(c, schema);
  const start = page_num * page_size;
  return c.json({ items: rows.slice(start, start + page_size), total_items: rows.length });
}

/** Names of the sources that the service knows: observed-service.md 3.11. */
export const sourceName = z.enum(
  (
    "ingestion_api slack web google_drive gmail github gitbook gitlab guru bookstack outline confluence jira slab " +
    "productboard file coda canvas notion zulip linear hubspot document360 gong google_sites zendesk loopio box " +
    "dropbox sharepoint teams salesforce discourse axero clickup mediawiki wikipedia asana s3 r2 " +
    "google_cloud_storage oci_storage xenforo not_applicable discord freshdesk fireflies egnyte airtable highspot " +
    "drupal_wiki imap bitbucket testrail braintrust lumapps mock_connector user_file craft_file"
  ).split(" "),
);

/** A member that may be absent or null. */
export const maybe = <Schema extends z.core.$ZodType>(schema: Schema) =>
  z.optional(z.nullable(schema));

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
  z.guid({ error: "Not a valid UUID" }),
);

/** A boolean. Also accepts the usual words ("false" is false). */
export const laxBoolean = z.pipe(
  z.transform((value: unknown) => {
    if (typeof value !== "string" && typeof value !== "number") return value;
    if (/^(?:true|1|yes|y|on|t)$/i.test(String(value))) return true;
    return /^(?:false|0|no|n|off|f)$/i.test(String(value)) ? false : value;
  }),
  z.boolean(),
);

/** A time in one of the notations that the service accepts. */
export const laxTime = z.transform((value: unknown, { issues }) => {
  const time = parseTimestamp(value);
  if (time) return time;
  issues.push({ code: "custom", input: value, message: "Not a valid time" });
  return z.NEVER;
});

const text = z.string();
const members = { document_set: maybe(z.array(text)), time_cutoff: maybe(laxTime) };
const TimeRange = z.looseObject({ start: maybe(laxTime), end: maybe(laxTime) });

export const Tags = maybe(z.array(z.looseObject({ tag_key: text, tag_value: text })));

export const StandardFilters = z.looseObject({
  ...members,
  source_type: maybe(z.array(text)),
  tags: maybe(z.record(text, text)),
});
export const OnyxFilters = z.looseObject({
  ...members,
  source_type: maybe(z.array(sourceName)),
  updated_at_range: maybe(TimeRange),
  created_at_range: maybe(TimeRange),
  tags: Tags,
});

/** The tags as the search takes them; undefined for none. */
export const tagsOf = (tags: z.infer<typeof Tags>): Filters["tags"] =>
  tags?.map(({ tag_key, tag_value }) => [tag_key, tag_value]);

/** The filters of a body, without document sets. */
export function toFilters(
  body: z.infer<typeof StandardFilters> | z.infer<typeof OnyxFilters>,
): Filters {
  const range = body.updated_at_range as z.infer<typeof TimeRange> | undefined | null;
  const { source_type, time_cutoff, tags } = body;
  return {
    sources: source_type ?? undefined,
    updatedFrom: (range?.start ?? time_cutoff)?.ms,
    updatedTo: range?.end?.ms,
    ...(Array.isArray(tags)
      ? { tags: tagsOf(tags), anyTag: true }
      : { tags: Object.entries(tags ?? {}) }),
  };
}
