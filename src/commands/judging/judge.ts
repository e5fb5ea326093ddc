import { join } from "node:path";
import type { Context } from "../../context.ts";
import { exists } from "../../documents/files/real-place.ts";
import { listFiles } from "../../documents/find/find.ts";
import { type Listed, comparePaths } from "../../documents/files/source-file.ts";
import type { Looked, PlanInspector, Prepared } from "../../documents/inspect/inspection.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { flagsText } from "../ingest/options/mapping-flags.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { serviceTargets, targetFor } from "../../sync/state/target.ts";
import { refuseUnrecorded } from "../ingest/options/inputs.ts";
import { openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { planFolder } from "../ingest/plan.ts";
import { openSession, type Session, type SessionRequest } from "../ingest/session.ts";
import { openGroups, type Group, type Groups } from "./groups.ts";

/** A session whose files are read with the flags of their uploads. */
export type JudgingSession = Session & { groups: Groups };

/** The pair of a document is the one of the flag of its upload. */
function withoutOwnPair<Each extends Looked | Prepared>(each: Each, { pairFromFlag }: Group): Each {
  return pairFromFlag && each.kind === "document" ? { ...each, ownPair: undefined } : each;
}

/** Reads each file with the inspector of its group. */
function routeInspector(groupOf: (path: string) => Group): PlanInspector {
  const byGroup = async <Item extends { path: string }, Result>(
    items: readonly Item[],
    run: (group: Group, some: readonly Item[]) => Promise<Result[]>,
  ): Promise<Result[]> => {
    const parts = new Map<Group, number[]>();
    for (const [index, { path }] of items.entries()) {
      const group = groupOf(path);
      const part = parts.get(group);
      if (part) part.push(index);
      else parts.set(group, [index]);
    }
    const results: Result[] = [];
    for (const [group, indexes] of parts) {
      const some = indexes.flatMap((index) => items[index] ?? []);
      const found = await run(group, some);
      for (const [place, index] of indexes.entries()) {
        const each = found[place];
        if (each !== undefined) results[index] = each;
      }
    }
    return results;
  };
  return {
    look: (items, onItem) =>
      byGroup(items, async (group, some) => {
        const looked = await group.inspector.look(some, onItem);
        return looked.map((each) => withoutOwnPair(each, group));
      }),
    identify: (items) => byGroup(items, (group, some) => group.inspector.identify(some)),
    async *readRows(item) {
      const group = groupOf(item.path);
      for await (const row of group.inspector.readRows(item)) yield withoutOwnPair(row, group);
    },
  };
}

/** Lists the files of all groups in path order, each in its own group; those behind links last. */
function* listGroups(
  { all, of, isLeftOut }: Groups,
  { base, inputs, cwd }: { base: Group | undefined; inputs: readonly string[]; cwd: string },
): Generator<Listed> {
  const linked: Listed[] = [];
  const lists = all.map((group) => {
    const files = listFiles(inputs, { ...group.source.find, cwd, mayBeRemoved: true });
    const next = (): Listed | undefined => {
      for (let step = files.next(); !step.done; step = files.next()) {
        const { path } = step.value;
        if ((of(path) ?? base) !== group || isLeftOut(path)) continue;
        if (step.value.kind !== "file" || !step.value.links) return step.value;
        linked.push(step.value);
      }
      return undefined;
    };
    return { next, head: next() };
  });
  for (;;) {
    let first: (typeof lists)[number] | undefined;
    for (const each of lists) {
      if (!each.head) continue;
      // Only files are ordered.
      const isFirst = !first?.head || comparePaths(each.head.path, first.head.path) < 0;
      if (isFirst) first = each;
    }
    if (!first?.head) break;
    yield first.head;
    first.head = first.next();
  }
  yield* linked;
}

/** The settings that find files, each by its group. */
function routeSettings(
  settings: DocumentSettings,
  groupOf: (path: string) => Group,
): DocumentSettings {
  const matches = (name: "only" | "exclude", otherwise: boolean) => ({
    matches: (path: string): boolean =>
      groupOf(path).source.settings[name]?.matches(path) ?? otherwise,
    // Folders are walked with the settings of each group.
    covers: () => false,
    patterns: [],
    unused: () => [],
  });
  return { ...settings, only: matches("only", true), exclude: matches("exclude", false) };
}

/** A configured pattern as a path: a bare name that is no entry of the root counts at any depth. */
function asPath(pattern: string, root: string): string {
  const isPath = pattern.includes("/") || pattern === "**" || exists(join(root, pattern));
  return isPath ? pattern : `**/${pattern}`;
}

/** Where to look: the paths of the command, else what was uploaded and is configured, else the root. */
function inputsOf(
  { inputs, settings, cwd }: DocumentSource,
  groups: Groups,
  wholeRoot: boolean,
): { inputs: string[]; cwd: string } {
  const { root, include } = settings;
  if (inputs.length > 0) return { inputs, cwd };
  const { inputs: recorded } = groups;
  if (recorded === undefined) return { inputs: ["."], cwd: root };
  const found = [...recorded, ...include.map((each) => asPath(each, root))];
  // The root as well: a file of rows, and what is ignored, are found by their names only.
  if (found.length === 0 || (wholeRoot && include.length === 0)) found.push("");
  return { inputs: found.map((each) => each || "."), cwd: root };
}

/** The only id prefix of the groups that is not empty. */
function prefixOf({ all }: Groups): string | undefined {
  const prefixes = new Set(all.map(({ source }) => source.settings.idPrefix));
  prefixes.delete("");
  return prefixes.size === 1 ? [...prefixes][0] : undefined;
}

/** Says by which flags the files are judged. */
async function printFlags({ recorded: groups }: Groups, output: Output): Promise<void> {
  const texts = [...groups].map(({ recorded }) => flagsText(recorded.settings));
  if (texts.every((each) => each === "")) return;
  const shown = texts.map((each) => (each === "" ? "no flags" : neutraliseLine(each)));
  await output.note(`judged by the flags of the uploads: ${shown.toSorted().join("; ")}`);
}

/**
 * Makes of a session one that reads each file with the flags recorded with it, over the configuration of
 * today. `wholeRoot`: without paths, look at everything that is configured, or in the root.
 */
async function judgeByRecord(
  context: Context,
  session: Session,
  wholeRoot: boolean,
): Promise<JudgingSession> {
  const groups = await openGroups(context, session);
  await printFlags(groups, session.output);
  const { source, close } = session;
  const [base] = groups.all;
  const isNamed = source.inputs.length > 0 || wholeRoot;
  const groupOf = (path: string): Group => groups.of(path) ?? base!;
  const idPrefix = prefixOf(groups) ?? source.settings.idPrefix;
  const settings = { ...routeSettings(source.settings, groupOf), idPrefix };
  const place = inputsOf(source, groups, wholeRoot);
  const routed: DocumentSource = {
    ...source,
    ...place,
    settings,
    find: { ...source.find, cwd: place.cwd, settings, mayBeRemoved: true },
    isWhole: source.inputs.length === 0,
    list: () => listGroups(groups, { ...place, base: isNamed ? base : undefined }),
    formatFor: (path) => groupOf(path).source.settings.format,
    mappingKey: (path) => groupOf(path).source.mappingKey(path),
    factsOf: (path) => groupOf(path).source.factsOf?.(path),
  };
  return {
    ...session,
    source: routed,
    inspector: { ...session.inspector, ...routeInspector(groupOf) },
    groups,
    async close() {
      await groups.close();
      await close();
    },
  };
}

/**
 * Opens the folder of a command that judges what was uploaded: `status` and `prune`. `refuse` throws
 * for a configuration that does not allow the command. Throws CliError `usage` for a path that neither
 * exists nor is recorded for the target; `anyTarget`: or for another target. The caller closes it.
 */
export async function openJudged(
  context: Context,
  output: Output,
  paths: readonly string[],
  request: SessionRequest,
  how: {
    sends: boolean;
    wholeRoot: boolean;
    anyTarget: boolean;
    refuse: (source: DocumentSource) => void;
  },
): Promise<JudgingSession> {
  const flags = { ...request, idsOnly: true, wholeRoot: true, mayBeRemoved: true };
  const source = await openSource(context, paths, flags, output, how.sends);
  how.refuse(source);
  const session = await openSession(context, output, source, request);
  try {
    const judging = await judgeByRecord(context, session, how.wholeRoot);
    const { state, targets } = session;
    const own = targetFor(targets, undefined);
    const others = how.anyTarget ? serviceTargets(state.database, targets.baseUrl) : [];
    if (own) refuseUnrecorded(judging, [own.key, ...others]);
    return judging;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Plans over the files, without a change of the state: each document gets its id. */
export async function planJudged(context: Context, session: JudgingSession): Promise<Plan> {
  const plan = await planFolder(context, session, { isDry: true });
  await session.progress.stop();
  return plan;
}
