import { commitOrigin } from "./facts.ts";
import type { Mapping } from "./map-fields.ts";
import { flatten, tagsOf, type AddEntry, type MetadataValue } from "./metadata.ts";
import { isMap, type ValueMap } from "../front-matter/values.ts";

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

/** Metadata key of the interface whose members are metadata themselves. */
const metadataMember = "metadata";

/** Adds members that `isField` does not claim; those with the name of tags become tags. */
function addMembers(
  draft: Draft,
  data: ValueMap,
  tagKeys: readonly string[],
  isField: (key: string) => boolean,
  originOf: (key: string) => string,
): void {
  for (const key of tagKeys) {
    const found = tagsOf(data[key]);
    for (const tag of found) draft.tags.push(tag);
    if (draft.origins && found.length > 0) draft.tagOrigins.add(originOf(key));
  }
  let origin = "";
  const add: AddEntry = (name, value) => setEntry(draft, name, value, origin);
  for (const key of Object.keys(data)) {
    if (tagKeys.includes(key) || isField(key)) continue;
    origin = originOf(key);
    flatten(key, data[key] ?? null, add);
  }
}

function addFrontMatter(draft: Draft, { parsed, fields, settings, trace }: Mapping): void {
  const { data } = parsed.frontMatter ?? {};
  if (!data) return;
  const originOf = (key: string): string => (trace ? fields.originOf(key) : "");
  const { tags } = settings.keys;
  const own = data[metadataMember];
  // `--map metadata.metadata=COLUMN` asks for this name.
  const isNamed = parsed.rowKeys?.metadata.has(metadataMember) === true;
  const members =
    own !== undefined && isMap(own) && !fields.isUsed(metadataMember) && !isNamed ? own : undefined;
  const isField = (key: string): boolean =>
    fields.isUsed(key) || (members !== undefined && key === metadataMember);
  addMembers(draft, data, tags, isField, originOf);
  if (members) {
    const origin = originOf(metadataMember);
    addMembers(
      draft,
      members,
      tags,
      () => false,
      () => origin,
    );
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
