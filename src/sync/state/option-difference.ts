import type { RawSettings } from "../../documents/map/settings.ts";
import type { RecordedOptions } from "./options.ts";

type Settings = Omit<RawSettings, "root">;

/** Values that shape documents, under the names people know them by, with what holds where none is given. */
const values: readonly [
  name: string,
  key: keyof Settings & keyof NonNullable<Settings["flags"]>,
  byDefault: string,
][] = [
  ["sections", "sections", "whole"],
  ["id prefix", "idPrefix", "none"],
  ["link", "link", "none"],
  ["link base", "linkBase", "none"],
  ["source", "source", "file"],
  ["anchors", "anchors", "github"],
  ["max section chars", "maxSectionChars", "none"],
  ["updated at", "updatedAt", "none"],
  ["owners", "owners", "none"],
  ["meta commit", "metaCommit", "false"],
  ["images", "images", "skip"],
  ["drafts", "drafts", "false"],
  ["map", "columns", "none"],
  ["metadata", "metadata", "none"],
  ["tags", "tags", "none"],
];

/** Shown as a whole: what each member said before is more than a line holds. */
const wholes: readonly [name: string, key: "rules" | "frontMatter" | "format"][] = [
  ["rules", "rules"],
  ["front matter keys", "frontMatter"],
  ["format", "format"],
];

const longest = 60;

function textOf(value: unknown, byDefault: string): string {
  if (value === undefined || value === "") return byDefault;
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function valueOf(settings: Settings, key: (typeof values)[number][1]): unknown {
  const [flag, configured] = [settings.flags?.[key], settings[key]];
  // Tags and metadata of flags come on top of the configured ones.
  if (key === "tags") return [...(settings.tags ?? []), ...(settings.flags?.tags ?? [])];
  if (key === "metadata") return { ...settings.metadata, ...settings.flags?.metadata };
  return flag ?? configured;
}

/**
 * In which way options differ from earlier ones, for people: `sections headings → whole, tags
 * changed`; "" where nothing that shapes documents differs.
 */
export function differenceOf(before: RecordedOptions, now: RecordedOptions): string {
  const [old, given] = [before.settings, now.settings];
  const changed = values.flatMap(([name, key, byDefault]) => {
    const [from, to] = [old, given].map((each) => textOf(valueOf(each, key), byDefault));
    if (from === to || from === undefined || to === undefined) return [];
    const isShort = from.length + to.length <= longest && !/[{\n]/.test(from + to);
    return [isShort ? `${name} ${from || "none"} → ${to || "none"}` : `${name} changed`];
  });
  for (const [name, key] of wholes) {
    if (JSON.stringify(old[key]) !== JSON.stringify(given[key])) changed.push(`${name} changed`);
  }
  if (before.mapping !== now.mapping) changed.push("this knowctl maps files in another way");
  return changed.join(", ");
}
