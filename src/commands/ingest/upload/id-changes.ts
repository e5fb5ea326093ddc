import { CliError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { PlanAction } from "../../../sync/plan/plan-table.ts";
import { tombstoneMark } from "../../../sync/state/records.ts";
import { targetFor } from "../../../sync/state/target.ts";
import type { Session } from "../session.ts";

interface Planned {
  path: string;
  part: number;
  id?: string | undefined;
  ownPair?: number | undefined;
  action?: PlanAction;
}

interface IdChanges {
  count: number;
  /** Documents of other shards that have no record under their id. */
  newOthers: number;
  /** The first document, with its recorded id and the number of its recorded options. */
  first: { path: string; before: string; now: string; options: number | undefined } | undefined;
}

/**
 * The documents of a plan that may have no record under their id. Those of the other shards count as well:
 * each shard alone may have too few to be noticed.
 */
function* newDocuments({ spool }: Session, { table }: Plan): Generator<Planned> {
  yield* table.entries(spool ? ["other"] : ["new", "other"]);
  for (const { head } of spool?.records() ?? []) {
    if (head.known.last === undefined) yield head.document;
  }
}

/** Counts the documents whose file the state records under another id; an import records it too. */
function findIdChanges(session: Session, plan: Plan): IdChanges {
  const found: IdChanges = { count: 0, newOthers: 0, first: undefined };
  const { state, targets, shaping } = session;
  if (plan.table.count("new") === 0) return found;
  const knows = new Map<string, boolean>();
  const isKnown = (key: string): boolean => {
    if (!knows.has(key)) knows.set(key, state.knows(key));
    return knows.get(key) === true;
  };
  const recorded = state.database.prepare(
    `SELECT id, options FROM accepted
      WHERE target = ? AND path = ? AND part = ? AND id <> ? AND whole <> '${tombstoneMark}' LIMIT 1`,
  );
  for (const { path, part, id = "", ownPair, action } of newDocuments(session, plan)) {
    const key = targetFor(targets, ownPair)?.key;
    if (key === undefined || !isKnown(key) || state.accepted(key, id)) continue;
    if (action === "other") found.newOthers++;
    const row = recorded.get(key, path, part, id);
    if (row === undefined) continue;
    const options = row["options"] === null ? undefined : Number(row["options"]);
    // In a file of rows, another id at this position is another row, unless the options differ.
    if (part > 0 && (options === undefined || shaping.differenceFrom(options) === "")) continue;
    found.count++;
    found.first ??= { path, before: String(row["id"]), now: id, options };
  }
  return found;
}

/**
 * What to say where at least two, and a tenth, of the recorded documents would be sent under another
 * id: the service would have them twice. Undefined for fewer.
 */
export function idChanges(
  session: Session,
  plan: Plan,
): { text: string; hints: string[] } | undefined {
  const { count, first, newOthers } = findIdChanges(session, plan);
  const { table } = plan;
  const others = table.count("other") - newOthers;
  const known = count + table.count("unchanged") + table.count("changed") + others;
  if (!first || count < 2 || count * 10 < known) return undefined;
  const { before, now, path, options } = first;
  const settings = session.state.options.get(options)?.settings;
  const prefix = settings?.flags?.idPrefix ?? settings?.idPrefix ?? "";
  const isOfPrefix = prefix !== session.source.settings.idPrefix && before === prefix + path;
  const again = isOfPrefix
    ? `repeat the recorded prefix: --id-prefix ${prefix === "" ? '""' : neutraliseLine(prefix)}`
    : "repeat the options of the last upload: --id-prefix, --root, front matter keys of ids";
  const ids = `${neutraliseLine(before)} → ${neutraliseLine(now)}`;
  return {
    text: `${formatCount(count)} of ${countOf(known, "recorded document")} would be sent a second time, under another id (first: ${ids})`,
    hints: [
      again,
      "or send them under the new ids with --allow-id-change: the earlier ones stay until `knowctl prune --class other-options --class row-gone`",
    ],
  };
}

/** Throws CliError `usage` unless the ids are as recorded, or may change. */
export function refuseIdChanges(session: Session, plan: Plan, isAllowed: boolean): void {
  const changes = isAllowed ? undefined : idChanges(session, plan);
  if (!changes) return;
  const { text, hints } = changes;
  throw new CliError("usage", `${text}; nothing was sent`, { hints });
}
