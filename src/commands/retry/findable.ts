import { readdirSync, realpathSync } from "node:fs";
import { projectNameIn } from "../../config/find/project-mark.ts";
import { createRealPlaces } from "../../documents/find/place/real-place.ts";
import { relativeTo } from "../../documents/find/root.ts";
import { openWalk } from "../../documents/find/search.ts";
import { normalise } from "../../documents/inspect/stamp.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { formatOf } from "../../documents/read/readers.ts";
import type { RecordedOptions } from "../../sync/state/options.ts";
import { statsOf } from "../stats-of.ts";

const isPlain = (path: string): boolean =>
  path === "." ||
  path
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0"));

/** Where a path leads, from the root; undefined outside of it. The path itself if it cannot be resolved. */
function placeOf(root: string, path: string, absolute: string): string | undefined {
  let real: string;
  try {
    real = realpathSync.native(absolute);
  } catch {
    // The upload reports what cannot be read.
    return path;
  }
  const found = relativeTo(root, real);
  return found === undefined ? undefined : normalise(found) || ".";
}

/** Returns the first folder above a path, below the root, that is a project of its own. */
function createProjectIn(absolute: (path: string) => string): (path: string) => string | undefined {
  const known = new Map<string, boolean>();
  const isProject = (folder: string): boolean => {
    let is = known.get(folder);
    if (is !== undefined) return is;
    try {
      const place = absolute(folder);
      is = projectNameIn(place, readdirSync(place, { withFileTypes: true })) !== undefined;
    } catch {
      // No folder, or one that cannot be read: the upload reports it.
      is = false;
    }
    known.set(folder, is);
    return is;
  };
  return (path) => {
    const names = path.split("/");
    const folders = names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
    return folders.find(isProject);
  };
}

/**
 * Returns why an upload of the root would not find a recorded file today; undefined if it would. The
 * state or report that names the file may be of somebody else: it must not choose what is sent.
 */
export function createUnfindable(
  settings: DocumentSettings,
  recorded: RecordedOptions | undefined,
): (path: string) => string | undefined {
  const folder = { kind: "folder", base: "", hidden: false } as const;
  const { direct: folders } = openWalk([folder], settings);
  // A file of rows is found by its name alone.
  const { direct: files } = openWalk([{ ...folder, matches: () => true }], settings);
  const absolute = createRealPlaces(settings.root);
  const projectIn = createProjectIn(absolute);
  return (path) => {
    if (recorded?.lacksFormat) return "it was sent with --format, which only its own state records";
    if (!isPlain(path)) return "it is no path below the project root";
    const place = placeOf(settings.root, path, absolute(path));
    if (place === undefined) return "it lies outside the project root";
    if (place !== path) return `a link leads to ${place} now`;
    if (settings.exclude?.matches(path)) return "a pattern excludes it";
    const project = projectIn(path);
    if (project !== undefined) return `${project} is a project root of its own`;
    if (statsOf(absolute(path))?.isDirectory()) {
      return path === "." || folders.folder(path) ? undefined : "it is hidden or ignored";
    }
    if (!formatOf(path, settings.format)) return "its format is not supported";
    return files.file(path) ? undefined : "it is hidden or ignored";
  };
}
