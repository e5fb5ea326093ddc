import { CliError } from "../../errors.ts";
import { loadGlobs } from "../files/patterns.ts";
import { createFields } from "../front-matter/fields.ts";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import { effectiveFor, defaultId, idKeys } from "../map/effective.ts";
import {
  compileSettings,
  usesPatterns,
  type DocumentSettings,
  type RawSettings,
} from "../map/settings.ts";
import { isPacked } from "../files/file-name.ts";
import { formatOf, formats, withFrontMatter } from "../formats/formats.ts";
import type { NewId, ReadItem } from "./inspection.ts";
import { placeOf } from "./recorded.ts";
import { normalise } from "../files/source-file.ts";

/** The keys that a page of HTML, and the properties of a file, give their document. */
const propertyKeys: ReadonlySet<string> = new Set([
  "title",
  "description",
  "author",
  "keywords",
  "subject",
  "link",
  "updated",
  "lang",
]);

function idOf(item: ReadItem, settings: DocumentSettings): string | undefined {
  const { path } = item;
  const { keys } = settings;
  const format = formatOf(path, settings.format);
  const pathId = defaultId(path, settings);
  if (format === formats.text) return pathId;
  if (!format || format.gives === "rows" || isPacked(path)) return undefined;
  const skipping = [...keys.ingest, ...keys.draft];
  if (!withFrontMatter.includes(format)) {
    const isFixed = ![...keys.id, ...skipping].some((key) => propertyKeys.has(key));
    return isFixed ? pathId : undefined;
  }
  const { frontMatter, isSure } = readFrontMatter(placeOf(item, settings.root), path);
  if (!frontMatter) return isSure ? pathId : undefined;
  if (skipping.some((key) => frontMatter.data[key] !== undefined)) return undefined;
  try {
    const own = createFields(frontMatter, path).takeText(idKeys(path, settings));
    return own ? normalise(own.value) : pathId;
  } catch (error) {
    // A bad value: reading the file reports it.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Returns the id of a new file, see Inspector.identify(). Never throws CliError. */
export type Identify = (item: ReadItem) => NewId | undefined;

/** Creates an Identify for settings as plain data. Does not load the readers. */
export async function loadIdentify(raw: RawSettings): Promise<Identify> {
  if (usesPatterns(raw)) await loadGlobs();
  const settings = compileSettings(raw);
  return (item) => {
    const id = idOf(item, settings);
    if (id === undefined) return undefined;
    return { id, ownPair: effectiveFor(item.path, settings).ccPairId };
  };
}
