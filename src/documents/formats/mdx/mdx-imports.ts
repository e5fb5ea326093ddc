import { posix } from "node:path";
import { isMap, textOf, valueAt } from "../../front-matter/values.ts";
import { parseData } from "../../site/config.ts";
import type { Included, Includes } from "../format.ts";
import { readProjectFile } from "../markdown/included.ts";
import type { Import } from "./mdx-scan.ts";

/** The file behind an import: Markdown, or one that a bundler gives as text. */
export function importOf(source: string): Import | undefined {
  // webpack: `!!raw-loader!./a.js`; Vite: `./a.js?raw`.
  const [, loaded] = /^!?!?raw-loader!(.+)$/.exec(source) ?? /^(.+)\?raw$/.exec(source) ?? [];
  if (loaded !== undefined) return { target: loaded, kind: "code" };
  if (/\.mdx?$/i.test(source)) return { target: source, kind: "text" };
  return /\.json$/i.test(source) ? { target: source, kind: "data" } : undefined;
}

// Docusaurus: `@site/…`; Mintlify: `/snippets/…`; Astro and Vite projects: `~/…` and `@/…`, below `src`.
const alias = /^(?:@site|@|~)?\//;

/** The path behind `@name/…`: docs.astro.build, "Import aliases", `paths` of `tsconfig.json`. */
function aliased(target: string, includes: Includes, chain: readonly string[]): string | undefined {
  const [, name, rest] = /^([@~#][\w-]{1,50})\/(.+)$/.exec(target) ?? [];
  if (name === undefined || rest === undefined) return undefined;
  const found = readProjectFile("tsconfig.json", includes, chain, [""]);
  const data = "problem" in found ? undefined : parseData(found.text, found.path);
  const paths = data === undefined ? undefined : valueAt(data, "compilerOptions.paths");
  const places = paths !== undefined && isMap(paths) ? paths[`${name}/*`] : undefined;
  const place = Array.isArray(places) ? textOf(places[0]) : undefined;
  if (place?.endsWith("/*") !== true) return undefined;
  return posix.join(place.slice(0, -1), rest);
}

/** Reads the file that an import names, as the bundlers of sites find it. */
export function readImport(target: string, includes: Includes, chain: readonly string[]): Included {
  if (alias.test(target)) {
    return readProjectFile(target.replace(alias, ""), includes, chain, ["", "src", "website"]);
  }
  const other = aliased(target, includes, chain);
  return other === undefined
    ? includes.read(target, chain)
    : readProjectFile(other, includes, chain, [""]);
}
