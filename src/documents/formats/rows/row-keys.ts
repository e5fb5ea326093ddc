import type { FrontMatterKeys } from "../../front-matter/keys.ts";
import type { RowKeys, ColumnMap } from "../format.ts";
import { CliError } from "../../../errors.ts";

const meanings: Readonly<Record<string, keyof FrontMatterKeys | "text">> = {
  id: "id",
  title: "title",
  semantic_identifier: "semanticIdentifier",
  text: "text",
  link: "link",
  source: "source",
  updated: "updatedAt",
  doc_updated_at: "updatedAt",
  created: "createdAt",
  doc_created_at: "createdAt",
  owner: "owners",
  owners: "owners",
  primary_owners: "owners",
  secondary_owners: "secondaryOwners",
  tags: "tags",
};
const meaningOf = (field: string): keyof FrontMatterKeys | "text" | undefined =>
  Object.hasOwn(meanings, field) ? meanings[field] : undefined;

/** Fields of a column map that need a service with `storesCreation`. */
export const creationFields: readonly string[] = Object.keys(meanings).filter(
  (field) => meanings[field] === "createdAt",
);
const fieldNames = `${Object.keys(meanings).join(", ")}, metadata.NAME`;
const metadataField = /^metadata\.(?!(?:__proto__|constructor|prototype)$)\S/;

/** The metadata name of a field `metadata.NAME`. */
export function metadataNameOf(field: string): string | undefined {
  return metadataField.test(field) ? field.slice("metadata.".length) : undefined;
}

function refuse(problem: string): never {
  throw new CliError("usage", `--map ${problem}`, {
    hints: [`write --map title=COLUMN,text=COLUMN; fields: ${fieldNames}`],
  });
}

/**
 * Parses the column map of `--map title=name,text=body,metadata.size=cm`. Throws CliError `usage`
 * for an unknown field, and for a field that is given twice.
 */
export function parseColumnMap(text: string): ColumnMap {
  const map = new Map<string, string>();
  for (const pair of text.split(",")) {
    const [field = "", ...rest] = pair.split("=");
    const name = field.trim();
    const column = rest.join("=").trim();
    if (name === "" || column === "") refuse(`${pair.trim()}: not FIELD=COLUMN`);
    if (meaningOf(name) === undefined && metadataNameOf(name) === undefined) {
      refuse(`${name}: no field of this name`);
    }
    if (map.has(name)) refuse(`${name}: given twice`);
    const same = [...map.keys()].find(
      (each) => meaningOf(each) && meaningOf(each) === meaningOf(name),
    );
    if (same !== undefined) refuse(`${name}: given twice (${same})`);
    map.set(name, column);
  }
  for (const [field, column] of map) {
    const others = [...map].filter(([other, name]) => name === column && other !== field);
    if (metadataNameOf(field) !== undefined && others.length > 0) {
      refuse(`${field}: the column ${column} is given twice`);
    }
  }
  return Object.fromEntries(map);
}

/** The keys of a row, from a column map. */
export function rowKeysOf(map: ColumnMap | undefined): RowKeys {
  const fields: Partial<Record<keyof FrontMatterKeys, readonly string[]>> = {};
  const metadata = new Set<string>();
  for (const [field, column] of Object.entries(map ?? {})) {
    const meaning = meaningOf(field);
    const name = metadataNameOf(field);
    if (name !== undefined) metadata.add(name);
    // All tags are combined under this name.
    else if (meaning === "tags") fields.tags = [...new Set([column, "tags"])];
    else if (meaning && meaning !== "text") fields[meaning] = [column];
  }
  return { fields, metadata };
}
