import { posix } from "node:path";
import { allIn, foldersIn } from "../../../documents/map/links/targets.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { siteOf } from "../../../documents/site/sites.ts";

// Programs write these folders.
const installed = /^(?:node_modules|bower_components|jspm_packages)$/;
const vendored = /^(?:vendors?|third[-_]?party)$/i;
// Where sites and programs keep what browsers load.
const ofBrowser =
  /^(?:wwwroot|public|static|assets?|resources|libs?|js|css|plugins|vendors?|third[-_]?party)$/i;
const licence = /(?:^|[-_.])(?:licen[cs]e|copying)(?:[-_.]|$)/i;
const manifest = /^(?:package\.json|composer\.json|go\.mod|pyproject\.toml|setup\.py|.+\.gemspec)$/;
const manifestOfBrowser = /^(?:bower|component)\.json$/;
const minified = /\.min\.(?:js|css)$/;

// A library has few folders, and its minified files stand near.
const deepest = 2;
const mostFolders = 20;

function hasMinified(folder: string, settings: DocumentSettings, depth = 0): boolean {
  if (allIn(folder, settings).some((name) => minified.test(name))) return true;
  const folders = depth < deepest ? foldersIn(folder, settings).slice(0, mostFolders) : [];
  return folders.some((name) => hasMinified(posix.join(folder, name), settings, depth + 1));
}

/** Whether a folder, root-relative, is a copy of a library: its place says so, and a file beside. */
function isCopy(folder: string, settings: DocumentSettings): boolean {
  const names = folder.split("/");
  if (names.some((name) => installed.test(name))) return true;
  const files = allIn(folder, settings);
  const has = (pattern: RegExp): boolean => files.some((name) => pattern.test(name));
  if (has(manifestOfBrowser) && has(/\.js$/)) return true;
  const isBelow = (pattern: RegExp): boolean =>
    names.slice(0, -1).some((name) => pattern.test(name));
  if (isBelow(vendored)) return has(licence) || has(manifest);
  return isBelow(ofBrowser) && has(licence) && hasMinified(folder, settings);
}

const knownOfRun = new WeakMap<DocumentSettings, Map<string, boolean>>();

/**
 * Whether a file is of a library that somebody copied into the project: its links count from the
 * repository of the library, and nobody corrects it here. A folder with the site of the file is none.
 */
export function isOfLibrary(path: string, settings: DocumentSettings): boolean {
  const folder = posix.dirname(path);
  if (folder === ".") return false;
  let known = knownOfRun.get(settings);
  if (!known) knownOfRun.set(settings, (known = new Map()));
  const site = siteOf(path, settings)?.prefix ?? "";
  let above = "";
  for (const name of folder.split("/")) {
    above = above === "" ? name : `${above}/${name}`;
    if (site.startsWith(`${above}/`)) continue;
    let is = known.get(above);
    if (is === undefined) known.set(above, (is = isCopy(above, settings)));
    if (is) return true;
  }
  return false;
}
