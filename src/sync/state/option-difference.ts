import type { RawSettings, ShapingOption } from "../../documents/map/settings.ts";
import { sortedJson, type RecordedOptions } from "./options.ts";

type Settings = Omit<RawSettings, "root">;

/** Options that shape documents: name in messages, and default. */
const shapingOptions: Readonly<Record<ShapingOption, readonly [name: string, byDefault: string]>> =
  {
    sections: ["sections", "whole"],
    idPrefix: ["id prefix", "none"],
    link: ["link", "none"],
    linkStyle: ["link style", "none"],
    linkBase: ["link base", "none"],
    links: ["links", "rewrite"],
    source: ["source", "file"],
    anchors: ["anchors", "github"],
    maxSectionChars: ["max section chars", "none"],
    updatedAt: ["updated at", "none"],
    owners: ["owners", "none"],
    metaCommit: ["meta commit", "false"],
    versionTag: ["version tag", "false"],
    images: ["images", "skip"],
    drafts: ["drafts", "false"],
    columns: ["map", "none"],
    metadata: ["metadata", "none"],
    tags: ["tags", "none"],
  };

/** Options that are only reported as changed: their values are too long for a line. */
const longOptions: readonly [
  name: string,
  key: "rules" | "frontMatter" | "format" | "componentAttributes" | "hidden",
][] = [
  ["rules", "rules"],
  ["front matter keys", "frontMatter"],
  ["format", "format"],
  ["component attributes", "componentAttributes"],
  ["hidden text", "hidden"],
];

const maxShownChars = 60;

function textOf(value: unknown, byDefault: string): string {
  if (value === undefined || value === "") return byDefault;
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" && value !== null ? sortedJson(value) : String(value);
}

function valueOf(settings: Settings, key: ShapingOption): unknown {
  const [flag, configured] = [settings.flags?.[key], settings[key]];
  // Flags add tags and metadata to the configured ones.
  if (key === "tags") return [...(settings.tags ?? []), ...(settings.flags?.tags ?? [])];
  if (key === "metadata") return { ...settings.metadata, ...settings.flags?.metadata };
  return flag ?? configured;
}

/**
 * Describes how options differ from earlier options, e.g. `sections headings → whole, tags
 * changed`. Returns "" when no option that shapes documents differs.
 */
export function differenceOf(before: RecordedOptions, now: RecordedOptions): string {
  const [old, current] = [before.settings, now.settings];
  const changed = Object.entries(shapingOptions).flatMap(([option, [name, byDefault]]) => {
    const key = option as ShapingOption;
    const [from, to] = [old, current].map((each) => textOf(valueOf(each, key), byDefault));
    if (from === to || from === undefined || to === undefined) return [];
    const isShort = from.length + to.length <= maxShownChars && !/[{\n]/.test(from + to);
    return [isShort ? `${name} ${from || "none"} → ${to || "none"}` : `${name} changed`];
  });
  for (const [name, key] of longOptions) {
    if (sortedJson(old[key]) !== sortedJson(current[key])) changed.push(`${name} changed`);
  }
  if (before.mapping !== now.mapping)
    changed.push("this version of knowctl maps files differently");
  return changed.join(", ");
}
