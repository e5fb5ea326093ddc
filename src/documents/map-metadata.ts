import { commitOrigin } from "./facts.ts";
import type { Mapping } from "./map-fields.ts";
import { addValue, tagsOf, type Metadata, type MetadataValue } from "./metadata.ts";

/** The key of the commit that last changed the file. */
const commitKey = "source_commit";

/**
 * Metadata of a document, later wins: configuration and rules, the commit where
 * it is asked for, the front matter keys that no field has used, flags. Tags of all are united under `tags`.
 * Call it last, when every field has taken its key.
 */
export function mapMetadata({
  parsed: { frontMatter },
  facts: { commit },
  fields,
  effective,
  settings,
  trace,
}: Mapping): Record<string, MetadataValue> {
  const metadata: Metadata = new Map(effective.metadata);
  const tags = [...effective.tags];
  if (settings.metaCommit && commit) {
    metadata.set(commitKey, { value: commit.id, origin: commitOrigin(commit) });
  }
  if (frontMatter) {
    // Origins are text that costs a search for the line: made only for `explain`.
    const originOf = trace ? fields.originOf : () => "";
    for (const key of settings.keys.tags) {
      for (const tag of tagsOf(fields.get(key))) tags.push({ tag, origin: originOf(key) });
    }
    for (const key of Object.keys(frontMatter.data)) {
      if (fields.isUsed(key) || settings.keys.tags.includes(key)) continue;
      addValue(metadata, key, frontMatter.data[key] ?? null, originOf, key);
    }
  }
  for (const [key, entry] of effective.flagMetadata) metadata.set(key, entry);
  tags.push(...effective.flagTags);
  if (tags.length > 0) {
    const value = [...new Set(tags.map(({ tag }) => tag))];
    const origin = trace ? [...new Set(tags.map((each) => each.origin))].join(", ") : "";
    metadata.set("tags", { value, origin });
  }
  const result: [string, MetadataValue][] = [];
  for (const [key, { value, origin }] of metadata) {
    result.push([key, value]);
    trace?.(`metadata.${key}`, origin);
  }
  // fromEntries defines members: no key can reach a prototype.
  return Object.fromEntries(result);
}
