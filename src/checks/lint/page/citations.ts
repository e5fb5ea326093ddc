import { join, posix } from "node:path";
import { textsOf, valueAt } from "../../../documents/front-matter/values.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { configOf } from "../../../documents/site/config.ts";
import { bytesAt, siteOf } from "../../../documents/site/sites.ts";
import type { Found, LintPage } from "../rule.ts";
import { findInProse } from "./spans.ts";

// pandoc.org, "Citations": `[@key, p. 3; see -@other]`, and no text of a link.
const citation = /(?<![!\\\]])\[[^[\]\n]{0,300}@[^[\]\n]{0,300}\](?![[({:])/g;
const cited = /(?<![\w@\\/.])@\{?([\w][\w:.#$%&+?~/-]{0,200})/g;
// quarto.org, "Cross References".
const ofPlace = /^(?:fig|tbl|lst|eq|sec|thm|lem|cor|prp|cnj|def|exm|exr|nte|tip|wrn|imp|cau)-/i;
const entries: Readonly<Record<string, RegExp>> = {
  bib: /@\w{1,50}\s*[{(]\s*([^\s,{}()]{1,200})\s*,/g,
  bibtex: /@\w{1,50}\s*[{(]\s*([^\s,{}()]{1,200})\s*,/g,
  json: /"id"\s*:\s*"([^"\n]{1,200})"/g,
  yaml: /^[\s-]{0,20}id:[ \t]*["']?([^\s"']{1,200})/gm,
  yml: /^[\s-]{0,20}id:[ \t]*["']?([^\s"']{1,200})/gm,
};
const [mostBytes, mostFiles] = [8 * 1024 * 1024, 20];

const keysOfRun = new WeakMap<DocumentSettings, Map<string, ReadonlySet<string> | undefined>>();

/** The keys of a bibliography; undefined for one that nobody can read here. */
function keysIn(path: string, settings: DocumentSettings): ReadonlySet<string> | undefined {
  let known = keysOfRun.get(settings);
  if (!known) keysOfRun.set(settings, (known = new Map()));
  if (known.has(path)) return known.get(path);
  const pattern = entries[posix.extname(path).slice(1).toLowerCase()];
  const isInside = pattern !== undefined && !path.startsWith("../") && known.size < mostFiles;
  const text = isInside
    ? Buffer.from(bytesAt(join(settings.root, path), mostBytes)).toString()
    : "";
  const keys =
    pattern && text !== ""
      ? new Set(Array.from(text.matchAll(pattern), (each) => each[1] ?? ""))
      : undefined;
  known.set(path, keys);
  return keys;
}

/** The keys that a page may cite; undefined where its bibliography is not known. */
function keysOf({ path, parsed, settings }: LintPage): ReadonlySet<string>[] | undefined {
  const site = siteOf(path, settings);
  const data = parsed.frontMatter?.data;
  if (site?.generator !== "quarto" || Object.hasOwn(data ?? {}, "references")) return undefined;
  const own = textsOf(data && valueAt(data, "bibliography")).map((each) =>
    posix.join(posix.dirname(path), each),
  );
  const ofSite = textsOf(valueAt(configOf(site, settings).data, "bibliography")).map((each) =>
    posix.join(site.prefix, each),
  );
  const all = [...own, ...ofSite].map((each) => keysIn(each, settings));
  return all.length === 0 || all.includes(undefined)
    ? undefined
    : all.filter((each) => each !== undefined);
}

/** The citations of a page of Quarto whose keys no bibliography has: the page shows the key with a question mark. */
export function* missingCitations(page: LintPage): Generator<Found> {
  if (!page.parsed.body.includes("@") || page.skipped !== undefined) return;
  const keys = keysOf(page);
  if (!keys) return;
  const isKnown = (key: string): boolean => keys.some((each) => each.has(key));
  const messageOf = (found: string, _: number, text: string): string | undefined => {
    const names = Array.from(found.matchAll(cited), ([, key = ""]) => key.replace(/[^\w/]+$/, ""));
    const missing = names.filter((key) => key !== "" && !ofPlace.test(key) && !isKnown(key));
    // `[@who]: https://…` makes a link of it.
    if (missing.length === 0 || text.includes(`\n${found}:`)) return undefined;
    return `the bibliography has no entry ${missing.join(", ")}`;
  };
  for (const each of findInProse(page, citation, messageOf)) {
    yield { ...each, cause: { key: each.message, least: 0, what: "places cite it" } };
  }
}
