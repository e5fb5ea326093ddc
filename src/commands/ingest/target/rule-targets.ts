import { targetFor, type Target } from "../../../sync/state/target.ts";
import type { Session } from "../session.ts";

/** The recorded targets of pairs that only rules name. None with a pair from a flag: it overrides rules. */
export function ruleTargets({
  source,
  state,
  targets,
}: Pick<Session, "source" | "state" | "targets">): Target[] {
  if (targets.pair.fromFlag) return [];
  const pairs = new Set(source.settings.rules.map(({ settings }) => settings.ccPairId));
  pairs.delete(targets.pair.ccPairId);
  pairs.delete(undefined);
  return [...pairs].flatMap((pair) => {
    const target = targetFor(targets, pair);
    return target && state.knows(target.key) ? [target] : [];
  });
}
