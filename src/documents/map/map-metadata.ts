import { commitOrigin } from "./facts.ts";
import type { Mapping } from "./map-fields.ts";
import { flatten, tagsOf, type AddEntry, type MetadataValue } from "./metadata.ts";

/** Metadata key for the commit that last changed the file. */
const commitKey = "source_commit";

/** The metadata of one document while it is collected. */
interface Draft {
  values: Record<string, MetadataValue>;
  tags: string[];
  /** Only for `explain`: each origin costs a search for its line. */
  origins: Map<string, string> | undefined;
  tagOrigins: Set<string>;
}

function setEntry({ values, origins }: Draft, key: string, value: MetadataValue, origin: string) {
  // Assigning `__proto__` would set the prototype instead.
  if (key !== "__proto__") values[key] = value;
  else Object.defineProperty(values, key, { value, enumerable: true, configurable: true });
  origins?.set(key, origin);
}

function addTags(draft: Draft, tags: readonly { tag: string; origin: string }[]): void {
  for (const { tag, origin } of tags) {
    draft.tags.push(tag);
    draft.tagOrigins.add(origin);
  }
}

function addFrontMatter(draft: Draft, { parsed, fields, settings, trace }: Mapping): void {
  const { data } = parsed.frontMatter ?? {};
  if (!data) return;
  const originOf = (key: string): string => (trace ? fields.originOf(key) : "");
  const { tags } = settings.keys;
  for (const key of tags) {
    const value = data[key];
    if (value === undefined) continue;
    const found = tagsOf(value);
    for (const tag of found) draft.tags.push(tag);
    if (trace && found.length > 0) draft.tagOrigins.add(originOf(key));
  }
  let origin = "";
  const add: AddEntry = (name, value) => setEntry(draft, name, value, origin);
  for (const key of Object.keys(data)) {
    if (fields.isUsed(key) || tags.includes(key)) continue;
    origin = originOf(key);
    flatten(key, data[key] ?? null, add);
  }
}

/**
 * The metadata of a document. Later sources override earlier ones: configuration and rules, the
 * commit (if configured), the front matter keys that no field has used, flags. The tags of all
 * sources are combined under `tags`. Call it last, when every field has used its key.
 */
export function mapMetadata(mapping: Mapping): Record<string, MetadataValue> {
  const { effective, settings, trace } = mapping;
  const { commit } = mapping.facts;
  const origins = trace && new Map<string, string>();
  const draft: Draft = { values: {}, tags: [], origins, tagOrigins: new Set() };
  for (const [key, { value, origin }] of effective.metadata) setEntry(draft, key, value, origin);
  addTags(draft, effective.tags);
  if (settings.metaCommit && commit) setEntry(draft, commitKey, commit.id, commitOrigin(commit));
  addFrontMatter(draft, mapping);
  for (const [key, { value, origin }] of effective.flagMetadata) {
    setEntry(draft, key, value, origin);
  }
  addTags(draft, effective.flagTags);
  if (draft.tags.length > 0) {
    setEntry(draft, "tags", [...new Set(draft.tags)], [...draft.tagOrigins].join(", "));
  }
  if (trace && origins) for (const [key, origin] of origins) trace(`metadata.${key}`, origin);
  return draft.values;
}
