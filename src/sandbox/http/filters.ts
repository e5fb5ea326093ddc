import * as z from "zod/mini";
import type { Filters } from "../store/index/search.ts";
import { laxTime, maybe, sourceName } from "./validation.ts";

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
