import { readdirSync, realpathSync } from "node:fs";
import { projectNameIn } from "../../config/find/places.ts";
import type { Context } from "../../context.ts";
import {
  createRealPlaces,
  exists,
  isRawName,
  undecodable,
} from "../../documents/files/real-place.ts";
import { relativeTo } from "../../documents/files/root.ts";
import { openWalk } from "../../documents/find/find.ts";
import { openYields, type Yield } from "../../documents/inspect/open-inspector.ts";
import { normalise } from "../../documents/files/source-file.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { optionsJson, type RecordedOptions } from "../../sync/state/options.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { Session } from "../ingest/session.ts";
import { failuresKey } from "../ingest/upload/failures.ts";
import { statsOf } from "../stats-of.ts";
import type { Failed } from "./groups.ts";

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

/** The first folder above a path, below the root, that is a project of its own. */
function projectIn(path: string, absolute: (path: string) => string): string | undefined {
  const names = path.split("/");
  const folders = names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
  return folders.find((folder) => {
    try {
      const place = absolute(folder);
      return projectNameIn(place, readdirSync(place, { withFileTypes: true })) !== undefined;
    } catch {
      // No folder, or one that cannot be read: the upload reports it.
      return false;
    }
  });
}

/**
 * Returns why an upload of the root would not find a recorded file today; undefined if it would. The
 * state or report that names the file may be of somebody else: it must not choose what is sent.
 */
function createUnfindable(
  settings: DocumentSettings,
  recorded: RecordedOptions | undefined,
): (path: string) => string | undefined {
  const folder = { kind: "folder", base: "", hidden: false } as const;
  const { direct: folders } = openWalk([folder], settings);
  // A file of rows is found by its name alone.
  const { direct: files } = openWalk([{ ...folder, matches: () => true }], settings);
  const absolute = createRealPlaces(settings.root);
  return (path) => {
    if (recorded?.lacksFormat) return "it was sent with --format, which only its own state records";
    if (!isPlain(path)) return "it is no path below the project root";
    if (isRawName(absolute(path))) return undecodable;
    const place = placeOf(settings.root, path, absolute(path));
    if (place === undefined) return "it lies outside the project root";
    if (place !== path) return `a link leads to ${place} now`;
    if (settings.exclude?.matches(path)) return "a pattern excludes it";
    const project = projectIn(path, absolute);
    if (project !== undefined) return `${project} is a project root of its own`;
    if (statsOf(absolute(path))?.isDirectory()) {
      return path === "." || folders.folder(path) ? undefined : "it is hidden or ignored";
    }
    if (!formatOf(path, settings.format)) return "its format is not supported";
    return files.file(path) ? undefined : "it is hidden or ignored";
  };
}

const shown = 20;

async function listSome(output: Output, lines: readonly string[], what: string): Promise<void> {
  for (const line of lines.slice(0, shown)) await output.note(line);
  if (lines.length > shown) await output.note(`… and ${lines.length - shown} more ${what}`);
}

/** Names the files with a problem, and returns the others. */
async function leaveOut(
  output: Output,
  { shown: nameOf }: DocumentSource,
  paths: readonly string[],
  problems: ReadonlyMap<string, string>,
  what: string,
): Promise<string[]> {
  const lines = [...problems].map(([path, problem]) => `${nameOf(path)}: ${problem}`);
  await listSome(output, lines, what);
  return paths.filter((path) => !problems.has(path));
}

/** Stands in a recorded path for a key: withoutSecrets() in session.ts. */
const hiddenKey = "***";

/** Throws CliError `partial` for a failed file whose path is recorded without the key in it. */
function refuseHidden(gone: ReadonlySet<string>): void {
  const hidden = [...gone].find((path) => path.includes(hiddenKey));
  if (hidden === undefined) return;
  throw new CliError("partial", `the path ${hidden} is recorded without the key that it holds`, {
    hints: ["send that file with `knowctl ingest PATH`"],
  });
}

/**
 * The failed files that are still there; the others are named, and their failures forgotten.
 * Throws CliError `usage` where the root may be another one than that of the failures.
 */
export async function dropGone(
  { output, source, state, targets, lostPath }: Session,
  { groups, fromStdin }: Failed,
  options: IngestOptions,
): Promise<Failed> {
  const absolute = createRealPlaces(source.settings.root);
  const all = groups.flatMap(({ paths }) => paths);
  const gone = new Set(all.filter((path) => !exists(absolute(path))));
  refuseHidden(gone);
  const isElsewhere = typeof options.state === "string" || lostPath !== undefined;
  if (gone.size > 0 && all.every((path) => gone.has(path)) && isElsewhere) throw allGone(source);
  if (gone.size > 0 && !options.dryRun) {
    const always = Number.MAX_SAFE_INTEGER;
    state.clearFailures(failuresKey(targets), always, (path) => gone.has(path));
  }
  const lines = [...gone].map((path) => `${source.shown(path)}: the file is gone`);
  await listSome(output, lines, "are gone");
  const left = groups.map((group) => ({
    ...group,
    paths: group.paths.filter((path) => !gone.has(path)),
  }));
  return { groups: left.filter(({ paths }) => paths.length > 0), fromStdin };
}

/** Failed files that are not there may have been deleted, or lie below another root. */
export function allGone({ settings: { root } }: DocumentSource): CliError {
  return new CliError("usage", `none of the failed files exists under ${root}`, {
    hints: [
      "name the root of that run with --root DIR",
      "if the files were deleted, there is nothing to retry; `knowctl status` lists their documents",
    ],
  });
}

/** Returns why a file must not be sent with the ids that it yields today; undefined if it may. */
type IdProblem = (path: string, today: Yield) => string | undefined | Promise<string | undefined>;

const changedText = (from: string, to: string): string =>
  `not sent: its id would change from ${from} to ${to}`;

/** Compares the ids with those that the target has of the files: the options are not recorded. */
function compareWithAccepted(
  { state, targets, source }: Session,
  paths: readonly string[],
): IdProblem {
  const byPath = new Map<string, string[]>(paths.map((path) => [path, []]));
  let prefixed: string | undefined;
  for (const { id, path } of state.listAccepted(failuresKey(targets))) {
    if (path === undefined) continue;
    byPath.get(path)?.push(id);
    if (id !== path && id.endsWith(path)) prefixed ??= id;
  }
  return (path, { ids, failed }) => {
    const known = byPath.get(path) ?? [];
    // A file that still fails is sent to no id: the upload reports why.
    if (failed !== undefined || known.some((id) => ids.has(id))) return undefined;
    const [other] = known;
    if (other !== undefined) return changedText(other, [...ids][0] ?? "none");
    // The file has no known id. Another document shows that ids had a prefix.
    if (prefixed === undefined || source.settings.idPrefix !== "") return undefined;
    return `not sent: cannot tell its id; others are like ${prefixed}`;
  };
}

/** The files whose documents keep their ids although the configuration is another one now. */
export async function keepIds(
  context: Context,
  session: Session,
  recorded: RecordedOptions | undefined,
  paths: readonly string[],
): Promise<string[]> {
  const { source, output } = session;
  const { root } = source.settings;
  if (recorded) {
    const now = { ...source.options, pairFromFlag: recorded.pairFromFlag };
    if (optionsJson(recorded) === optionsJson(now)) return [...paths];
  }
  const absolute = createRealPlaces(root);
  const today = await openYields(source.raw, context.workerScript);
  const before =
    recorded && (await openYields({ ...recorded.settings, root }, context.workerScript));
  const problemOf: IdProblem = before
    ? async (path, { ids }) => {
        const was = await before.of(path, absolute(path));
        const id = [...was.ids].find((each) => !ids.has(each));
        const other = [...ids].find((each) => !was.ids.has(each));
        return id === undefined || other === undefined ? undefined : changedText(id, other);
      }
    : compareWithAccepted(session, paths);
  const problems = new Map<string, string>();
  try {
    for (const path of paths) {
      context.signal.throwIfAborted();
      const problem = await problemOf(path, await today.of(path, absolute(path)));
      if (problem !== undefined) problems.set(path, problem);
    }
  } finally {
    await before?.close();
    await today.close();
  }
  return await leaveOut(output, source, paths, problems, "would change their ids");
}

/** The files that an upload of the root would find today; names the others. */
export async function keepFindable(
  output: Output,
  source: DocumentSource,
  recorded: RecordedOptions | undefined,
  paths: readonly string[],
): Promise<string[]> {
  const whyNot = createUnfindable(source.settings, recorded);
  const problems = new Map<string, string>();
  for (const path of paths) {
    const reason = whyNot(path);
    if (reason !== undefined) problems.set(path, `not sent: ${reason}`);
  }
  return await leaveOut(output, source, paths, problems, "are not sent");
}
