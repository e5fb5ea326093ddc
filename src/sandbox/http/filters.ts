import * as z from "zod/mini";
import { parseTimestamp } from "../store/identity.ts";
import type { Filters } from "../store/index/search.ts";
import { sourceNames } from "../store/pairs/sources.ts";
import type { DialectName } from "./reply.ts";
import { type Issue, refuseBody } from "./validation.ts";

const text = z.string();
const maybe = <Schema extends z.core.$ZodType>(schema: Schema) => z.optional(z.nullable(schema));
const texts = maybe(z.array(text));

const TimeRange = z.looseObject({ start: z.optional(z.unknown()), end: z.optional(z.unknown()) });
const filterMembers = {
  source_type: texts,
  document_set: texts,
  time_cutoff: z.optional(z.unknown()),
};
export const StandardFilters = z.looseObject({
  ...filterMembers,
  tags: maybe(z.record(text, text)),
});
export const OnyxFilters = z.looseObject({
  ...filterMembers,
  updated_at_range: maybe(TimeRange),
  created_at_range: maybe(TimeRange),
  tags: maybe(z.array(z.looseObject({ tag_key: text, tag_value: text }))),
});

function timeAt(value: unknown, loc: Issue["loc"], issues: Issue[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  const time = parseTimestamp(value);
  if (time) return time.ms;
  issues.push({
    type: "datetime_from_date_parsing",
    loc,
    msg: "Input should be a valid datetime or date, invalid character in year",
    input: value,
  });
  return undefined;
}

type FilterBody = z.infer<typeof StandardFilters> | z.infer<typeof OnyxFilters>;

/**
 * The filters of a body at `loc`, without document sets. Throws a Refusal (422) for an unknown
 * source and for a malformed time.
 */
export function toFilters(body: FilterBody, dialect: DialectName, loc: Issue["loc"]): Filters {
  const issues: Issue[] = [];
  const { updated_at_range: range, created_at_range: created } = body as z.infer<
    typeof OnyxFilters
  >;
  for (const end of ["start", "end"] as const) {
    timeAt(created?.[end], [...loc, "created_at_range", end], issues);
  }
  const cutoff = timeAt(body.time_cutoff, [...loc, "time_cutoff"], issues);
  const from = timeAt(range?.start, [...loc, "updated_at_range", "start"], issues) ?? cutoff;
  const to = timeAt(range?.end, [...loc, "updated_at_range", "end"], issues);
  for (const [index, source] of (body.source_type ?? []).entries()) {
    if (dialect !== "onyx" || sourceNames.has(source)) continue;
    const msg = `Input should be ${[...sourceNames].map((name) => `'${name}'`).join(", ")}`;
    issues.push({ type: "enum", loc: [...loc, "source_type", index], msg, input: source });
  }
  if (issues.length > 0) throw refuseBody(issues);
  const tags = Array.isArray(body.tags)
    ? body.tags.map(({ tag_key, tag_value }): [string, string] => [tag_key, tag_value])
    : Object.entries(body.tags ?? {});
  return {
    ...(body.source_type ? { sources: body.source_type } : {}),
    ...(from === undefined ? {} : { updatedFrom: from }),
    ...(to === undefined ? {} : { updatedTo: to }),
    ...(tags.length > 0 ? { tags, anyTag: dialect === "onyx" } : {}),
  };
}
