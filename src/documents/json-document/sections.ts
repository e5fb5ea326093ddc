import type { Section } from "../../api/schemas.ts";
import { found, isJsonObject, type JsonObject } from "../json/json-value.ts";

/** Throws CliError `usage` about one member. */
export type Refuse = (member: string, problem: string, hint: string) => never;

export const isFilled = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "";

/** Removes members that are null or undefined: the service treats null as missing. */
export function withoutNull(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null && member !== undefined),
  );
}

/**
 * Splits a section with text and an image or a table into one section each: the service would keep
 * the text alone (observed-service.md 3.1).
 */
function splitSection(section: JsonObject): Section[] {
  const { text, image_file_id: image, csv_file_id: table, type: _type, heading, ...rest } = section;
  if ([text, image, table].filter((each) => each !== undefined).length < 2) {
    return [section as Section];
  }
  const headed = heading === undefined ? {} : { heading };
  const parts = [
    ...(isFilled(text) ? [{ text, ...headed }] : []),
    ...(image === undefined ? [] : [{ image_file_id: image }]),
    ...(table === undefined ? [] : [{ csv_file_id: table }]),
  ];
  return parts.map((part) => ({ ...part, ...rest }) as Section);
}

/** Checks sections by observed-service.md 3.1: text, image or table, with or without a link. */
export function sectionsOf({ sections }: JsonObject, refuse: Refuse): Section[] {
  const hint = 'write "sections": [{"text": "…", "link": "…"}]';
  if (!Array.isArray(sections)) {
    refuse("sections", `expected a list, found ${found(sections)}`, hint);
  }
  const result = sections.flatMap((section: unknown, index): Section[] => {
    const name = `sections[${index}]`;
    if (!isJsonObject(section)) refuse(name, `expected an object, found ${found(section)}`, hint);
    const clean = withoutNull(section);
    for (const member of ["text", "link", "image_file_id", "csv_file_id"]) {
      const value = clean[member];
      if (value === undefined || typeof value === "string") continue;
      refuse(`${name}.${member}`, `expected text, found ${found(value)}`, hint);
    }
    if (["text", "image_file_id", "csv_file_id"].every((member) => clean[member] === undefined)) {
      refuse(name, "has neither text nor image_file_id", hint);
    }
    return splitSection(clean);
  });
  const isContent = (section: Section & { csv_file_id?: string }): boolean =>
    isFilled(section.text) || isFilled(section.image_file_id) || isFilled(section.csv_file_id);
  if (!result.some(isContent)) refuse("sections", "contain no text and no image", hint);
  return result;
}
