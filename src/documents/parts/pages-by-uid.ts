import { closeSync, constants, openSync, readSync } from "node:fs";
import { siteOf, type SiteSettings } from "../site/sites.ts";
import { filesOf, type FilesByName } from "./notes-by-name.ts";

/** A page by its `uid`: root-relative path, and its title if it has one near its top. */
export interface PageWithUid {
  path: string;
  title: string | undefined;
}

const headBytes = 4096;
// `O_NOFOLLOW` does not exist on Windows. A link may lead out of the project.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

function headOf(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, flags);
    const bytes = Buffer.alloc(headBytes);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, headBytes, 0)).toString("utf8");
  } catch {
    return "";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readPages(files: FilesByName | undefined, root: string): Map<string, PageWithUid[]> {
  const pages = new Map<string, PageWithUid[]>();
  for (const path of [...(files?.values() ?? [])].flat()) {
    const head = /\.md$/i.test(path) ? headOf(`${root}/${path}`) : "";
    const [block = ""] = /^\uFEFF?---[^]*?\n---/.exec(head) ?? [];
    const [, uid] = /^uid:[ \t]*["']?([^\s"']+)/m.exec(block) ?? [];
    if (uid === undefined) continue;
    const [, heading] = /^#[ \t]+([^\n]+)/m.exec(head.slice(block.length)) ?? [];
    const [, written] = /^title:[ \t]*["']?([^\n"']+)/m.exec(block) ?? [];
    const page = { path, title: (heading ?? written)?.trim() };
    pages.set(uid, [...(pages.get(uid) ?? []), page]);
  }
  return pages;
}

const pagesOfRun = new WeakMap<SiteSettings, Map<string, PageWithUid[]>>();

/**
 * The page with a uid in the site of the page `from` (dotnet.github.io/docfx, "Links and Cross
 * References"); undefined without one. Reads the start of each Markdown file of the project once in a run.
 */
export function pageWithUid(
  uid: string,
  from: string,
  settings: SiteSettings,
): PageWithUid | undefined {
  let pages = pagesOfRun.get(settings);
  if (!pages) pagesOfRun.set(settings, (pages = readPages(filesOf(settings), settings.root)));
  const prefix = siteOf(from, settings)?.prefix ?? "";
  return pages.get(uid)?.find(({ path }) => path.startsWith(prefix));
}
