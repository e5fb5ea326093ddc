import { type FrontMatterKeys, defaultKeys } from "../front-matter/fields.ts";
import type { RowKeys, ColumnMap, Parsed } from "./format.ts";
import { CliError } from "../../errors.ts";
import { textOf, type Value, type ValueMap } from "../front-matter/values.ts";

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
function metadataNameOf(field: string): string | undefined {
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
function rowKeysOf(map: ColumnMap | undefined): RowKeys {
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

/** Converts the rows of one file to the input of mapDocument(). */
export interface RowMapper {
  /** The stored name of a column; `taken` checks whether another column of the row has a name. */
  nameOf(column: string, taken: (name: string) => boolean): string;
  /** Columns of the map that no row has had so far. */
  missing(): string[];
  /** Whether a column with this stored name may contain the text. */
  isText(name: string): boolean;
  /** `line` from 1. Throws CliError `usage` for a row without a text. */
  toParsed(data: ValueMap, line: number): Parsed;
}

const textColumns = ["text", "body", "content"];
const wellKnown = new Set([...textColumns, ...Object.values(defaultKeys).flat()]);

/** The first columns of many, for messages. */
export function listColumns(columns: readonly string[]): string {
  const shown = columns.slice(0, 20).join(", ");
  return columns.length > 20 ? `${shown} and ${columns.length - 20} more` : shown;
}

function titleOf(data: ValueMap, rowKeys: RowKeys): string | undefined {
  const id = textOf(data[rowKeys.fields.id?.[0] ?? "id"])?.trim();
  return id === "" ? undefined : id;
}

/**
 * Creates the mapper of the file `path`. `noun` is the name of a column in messages (`column`,
 * `member`). Well-known names (`title`, `text`, `updated` …) match in any case, unless the map
 * contains them. Columns without a field become metadata.
 */
export function createRowMapper(
  path: string,
  map: ColumnMap | undefined,
  noun: "column" | "member",
): RowMapper {
  const rowKeys = rowKeysOf(map);
  const mapped = new Set(Object.values(map ?? {}));
  const unseen = new Set(mapped);
  const renamed = new Map<string, string>();
  for (const [field, column] of Object.entries(map ?? {})) {
    const name = metadataNameOf(field);
    if (name !== undefined) renamed.set(column, name);
  }
  const textNames = map?.["text"] === undefined ? textColumns : [map["text"]];

  // With `text=summary,title=summary` the title still needs the column.
  const others = Object.entries(map ?? {}).filter(([field]) => field !== "text");
  const shared = new Set(others.map(([, column]) => column));

  const takeText = (data: ValueMap, line: number): string => {
    const present = textNames.filter((name) => data[name] !== undefined);
    const isFilled = (name: string): boolean => !/^\s*$/.test(textOf(data[name]) ?? "");
    const name = present.find(isFilled) ?? present[0];
    const where = `${path}:${line}:1`;
    if (name === undefined) {
      const columns = listColumns(Object.keys(data));
      throw new CliError("usage", `${where}: no ${noun} ${textNames.join(" or ")} for the text`, {
        hints: [`name it: --map text=${noun.toUpperCase()}; ${noun}s here: ${columns}`],
      });
    }
    const value: Value | undefined = data[name];
    if (!shared.has(name)) delete data[name];
    const text = value === null ? "" : textOf(value);
    if (text !== undefined) return text;
    throw new CliError("usage", `${where}: ${noun} ${name}: expected text`, {
      hints: [`name another ${noun}: --map text=${noun.toUpperCase()}`],
    });
  };

  return {
    nameOf(column, taken) {
      unseen.delete(column);
      const name = renamed.get(column);
      if (name !== undefined) return name;
      const lower = column.toLowerCase();
      const isWellKnown = lower !== column && wellKnown.has(lower) && !mapped.has(column);
      return isWellKnown && !taken(lower) ? lower : column;
    },
    missing: () => [...unseen],
    isText: (name) => textNames.includes(name),
    toParsed(data, line) {
      const body = takeText(data, line);
      const frontMatter = { data, format: "json" as const, block: "", firstLine: line, noun };
      const parsed: Parsed = {
        frontMatter,
        body,
        bodyLine: line,
        isMarkdown: false,
        warnings: [],
        rowKeys,
      };
      const title = titleOf(data, rowKeys);
      return title === undefined ? parsed : { ...parsed, title };
    },
  };
}
