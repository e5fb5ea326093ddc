import { statfsSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import type { FSWatcher } from "chokidar";
import { codeOf, messageOf } from "../../errors.ts";
import { relativeTo, withSlashes } from "../files/root.ts";
import { normalise } from "../files/source-file.ts";
import { openWalk } from "./find.ts";
import { isIgnoreFile } from "../files/ignore-rules.ts";
import { jobsOf, type FindOptions } from "./scope.ts";

/** What to watch. */
export interface WatchRequest {
  inputs: readonly string[];
  find: FindOptions;
  /** Absolute paths of configuration files: a change of theirs counts as well. */
  configurations: readonly string[];
  /** Absolute paths of files and folders that the command itself writes: they never count. */
  own: readonly string[];
  /** Called for each change; `isRule`: it may change which folders are to be watched. */
  onChange(isRule: boolean): void;
  /** Called once, with the reason, when no more changes can be seen. */
  onBlind(reason: string): void;
  /** The longest wait for the first look at all folders. */
  patience(): Promise<void>;
}

export interface FolderWatcher {
  close(): Promise<void>;
}

/** Opens a FolderWatcher; see openFolderWatcher(). */
export type OpenWatcher = (request: WatchRequest) => Promise<FolderWatcher>;

/**
 * File systems that report only the changes of this machine, or none, by the number that statfs(2)
 * gives. Source: man 2 statfs, and linux/magic.h.
 */
const silentSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
  [0x65735546, "FUSE"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x786f4256, "vboxsf"],
]);

/** The name of a file system without events by its number; undefined for one that has them. */
export function silentSystem(type: number): string | undefined {
  return silentSystems.get(type >>> 0);
}

function silentFolder(folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    try {
      const name = silentSystem(statfsSync(folder).type);
      if (name !== undefined) return `${folder} is on ${name}, which reports no changes`;
    } catch {
      // It is gone, or the system has no such call: the watcher itself will tell.
    }
  }
  return undefined;
}

function blindReason(error: unknown): string {
  const code = codeOf(error);
  if (code === "ENOSPC") return "the system watches no more folders (fs.inotify.max_user_watches)";
  if (code === "EMFILE") return "too many open files (ulimit -n, fs.inotify.max_user_instances)";
  return `watching failed: ${messageOf(error)}`;
}

/**
 * Watches the folders that a search for the inputs enters, from the root down: neither hidden nor
 * ignored ones, and no link's target. Resolves when all are watched. Needs one watch a folder: files
 * are seen through their folder. The caller closes it, and opens another one after a change of rules
 * and when the root was replaced. Throws the same errors as findFiles().
 */
export async function openFolderWatcher(request: WatchRequest): Promise<FolderWatcher> {
  const { inputs, find, configurations, own, onChange } = request;
  const { root } = find.settings;
  const jobs = jobsOf(inputs, find);
  const { direct } = openWalk(jobs, find.settings);
  let isBlind = false;
  const turnBlind = (reason: string): void => {
    if (!isBlind) request.onBlind(reason);
    isBlind = true;
  };
  const silent = silentFolder([root, ...jobs.map(({ base }) => join(root, base))]);
  if (silent !== undefined) {
    turnBlind(silent);
    return { close: async () => {} };
  }
  const { watch } = await import("chokidar");
  const pathOf = (absolute: string): string | undefined => {
    const path = relativeTo(root, absolute);
    return path === undefined ? undefined : normalise(withSlashes(path));
  };
  const ignored = (absolute: string, stats?: Stats): boolean => {
    // Asked without knowing what it is: asked again when that is known.
    if (!stats || configurations.includes(absolute)) return false;
    const path = pathOf(absolute);
    return path === undefined || !stats.isDirectory() || (path !== "" && !direct.enters(path));
  };
  const isOwn = (absolute: string): boolean =>
    own.some((each) => relativeTo(each, absolute) !== undefined);
  const seen = (absolute: string): void => {
    if (configurations.includes(absolute)) return onChange(true);
    const path = pathOf(absolute);
    if (path === undefined || path === "" || isOwn(absolute)) return;
    if (direct.concerns(path)) onChange(isIgnoreFile(basename(absolute)));
  };
  const watcher: FSWatcher = watch([root, ...configurations], {
    ignored,
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
    // Its own grouping of events: all of them are awaited here anyway.
    atomic: false,
  });
  // Events of files come through their folder alone: a watch for each file would reach the limit of
  // the system with the first large project.
  watcher.on("raw", (_event, name: string | null, details) => {
    const { watchedPath } = details as { watchedPath: string };
    // Where the system does not name the file, the folder itself stands for it.
    const isNamed = name !== null && !configurations.includes(watchedPath);
    seen(isNamed ? join(watchedPath, name) : watchedPath);
  });
  // A new folder is watched only from here on: what came into it before had no event.
  watcher.on("addDir", seen);
  watcher.on("unlinkDir", seen);
  watcher.on("error", (error) => turnBlind(blindReason(error)));
  const isReady = new Promise<void>((resolve) => void watcher.once("ready", () => resolve()));
  await Promise.race([isReady, request.patience()]);
  return {
    async close() {
      await watcher.close();
      // A late error without a listener would end the process.
      watcher.on("error", () => {});
    },
  };
}
