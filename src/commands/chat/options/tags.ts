import type { Dialect } from "../../../api/dialects.ts";
import { CliError } from "../../../errors.ts";

/**
 * The pairs of `--filter-tag KEY=VALUE`. Throws CliError `usage` for any other text, and for two
 * values of one key where the dialect takes one.
 */
export function parseTags(
  flags: readonly string[],
  dialect: Pick<Dialect, "repeatsTagKeys">,
): [string, string][] {
  const tags = flags.map((flag): [string, string] => {
    const equals = flag.indexOf("=");
    if (equals < 1) {
      throw new CliError("usage", `--filter-tag: "${flag}" is not KEY=VALUE`);
    }
    return [flag.slice(0, equals), flag.slice(equals + 1)];
  });
  const keys = new Set(tags.map(([key]) => key));
  if (keys.size < tags.length && !dialect.repeatsTagKeys) {
    throw new CliError("usage", "--filter-tag: one key can have only one value here", {
      hints: ["this service reads the tags as an object; ask once for each value"],
    });
  }
  return tags;
}
