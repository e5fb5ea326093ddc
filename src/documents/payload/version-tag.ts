import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import { fingerprintOf } from "./payload.ts";

const defaultKey = "knowctl_version";

/** Metadata key of the version; undefined if documents get none. */
export function versionKeyOf(setting: boolean | string | undefined): string | undefined {
  if (setting === true) return defaultKey;
  return setting === false ? undefined : setting;
}

/**
 * Adds the fingerprint of the document, without this entry, to its metadata. Fields in `volatile`
 * do not count. Throws CliError `usage` if the document has the key itself. `path` is for messages.
 */
export function addVersionTag(
  document: IngestionDocument,
  volatile: readonly (keyof IngestionDocument)[],
  { key, path }: { key: string; path: string },
): void {
  const { metadata } = document;
  if (Object.hasOwn(metadata, key)) {
    throw new CliError("usage", `${path}: metadata ${key}: ingest.versionTag uses this key`, {
      hints: ["rename the key in the document, or name another one in ingest.versionTag"],
    });
  }
  const { whole } = fingerprintOf(document, volatile);
  // Unlike an assignment, this also works for `__proto__`.
  document.metadata = Object.fromEntries([...Object.entries(metadata), [key, whole]]);
}
