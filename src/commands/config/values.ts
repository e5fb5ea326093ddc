import type { Config, Origin } from "../../config/load.ts";
import { valueAt } from "../../config/file/problems.ts";
import { maskValue } from "../../config/values/members.ts";

/** A value in effect, safe to show. */
export interface ValueRow {
  key: string;
  value: unknown;
  source: Origin["source"];
  where: string;
  overrides: { source: string; where: string }[];
}

/** The values in effect by their keys, secrets masked. */
export function effective(config: Config): Record<string, unknown> {
  const { baseUrl, dialect, ...rest } = config.values;
  const values = { profile: config.profile, baseUrl, dialect, ...rest };
  return maskValue(values, "") as Record<string, unknown>;
}

// Metadata keys may hold dots: then the rest of the name is one step.
function valueOfName(values: unknown, name: string): unknown {
  const words = name.split(".");
  for (let count = words.length; count > 0; count--) {
    const value = valueAt(values, [...words.slice(0, count - 1), words.slice(count - 1).join(".")]);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Every value in effect with its origin, by key; secrets masked. */
export function valueRows(config: Config): ValueRow[] {
  const values = effective(config);
  const place = ({ source, where }: Origin) => ({ source, where });
  return [...config.origins]
    .map(([key, origin]) => ({
      key,
      value: valueOfName(values, key),
      ...place(origin),
      overrides: origin.overrides.map(place),
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
