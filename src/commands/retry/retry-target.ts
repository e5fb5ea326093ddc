import { stateRules } from "../state-rules.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { RunReport } from "../../output/report/record.ts";
import { openStateForReading } from "../../sync/state/file/read-only-state.ts";
import {
  allFailureTargets,
  failureTargets,
  pairInKey,
  serviceInKey,
} from "../../sync/state/target.ts";
import { failuresKey } from "../ingest/upload/failures.ts";
import { namesPairsByRule, severalTargets } from "../ingest/target/recorded-target.ts";
import { plannedBaseUrl, type Session } from "../ingest/session.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { ChosenPair } from "../ingest/target/target.ts";

/** Throws CliError `usage` when the report and the session have different targets. */
export function refuseOtherTarget({ target }: RunReport, { targets }: Session, name: string): void {
  const { baseUrl, pair } = targets;
  const textOf = (url: string, id: number | null | undefined): string =>
    `${url.replace(/\/+$/, "")}, pair ${id ?? "by rule"}`;
  const [theirs, ours] = [textOf(target.baseUrl, target.ccPairId), textOf(baseUrl, pair.ccPairId)];
  if (theirs === ours) return;
  throw new CliError("usage", `${name} is a report of another target; nothing was sent`, {
    details: [`the report: ${theirs}`, `this run: ${ours}`],
    hints: [
      "omit the target: the report names it",
      "or set it with --cc-pair-id, --base-url or --profile",
    ],
  });
}

/**
 * Throws CliError `usage` for a report merged from runs to several pairs: a failure does not record
 * its pair. If rules choose the pairs, they choose them again.
 */
export function refuseSeveralPairs(
  { merged, target, options = [] }: RunReport,
  { config }: DocumentSource,
  name: string,
): void {
  if (!merged || target.ccPairId !== null) return;
  if (namesPairsByRule(config) && !options.some(({ pairFromFlag }) => pairFromFlag)) return;
  throw new CliError("usage", `${name} was merged from runs to several pairs; nothing was sent`, {
    hints: [
      "retry the reports it was merged from, one by one: `knowctl retry REPORT`",
      "the merged report does not record which pair a failure belongs to",
    ],
  });
}

/** The only target with failures in the state. Throws CliError `usage` when there are several. */
async function onlyFailureTarget(
  context: Context,
  source: DocumentSource,
  folder: string,
): Promise<ChosenPair | undefined> {
  const { state } = await openStateForReading(folder, context.now, stateRules(context));
  try {
    const keys = failureTargets(state.database, plannedBaseUrl(source.config));
    const [only] = keys;
    if (keys.length > 1) throw severalTargets(keys.map(pairInKey), "the failures have");
    if (only === undefined) return undefined;
    return { ccPairId: pairInKey(only), connector: undefined, fromFlag: false };
  } finally {
    state.close();
  }
}

/** Throws CliError `usage` when another target has failures. Call it when this target has none. */
export function refuseWrongTarget({ state, targets }: Session): void {
  const own = failuresKey(targets);
  const others = allFailureTargets(state.database).filter((key) => key !== own && key !== "");
  const [first] = others;
  if (first === undefined) return;
  const { ccPairId } = targets.pair;
  const isHere = (key: string): boolean => serviceInKey(key) === targets.baseUrl;
  const place = (key: string): string => (isHere(key) ? "" : ` at ${serviceInKey(key)}`);
  const address = isHere(first) ? "" : ` --base-url ${serviceInKey(first)}`;
  const nothing = ccPairId === undefined ? `at ${targets.baseUrl}` : `for pair ${ccPairId}`;
  throw new CliError("usage", `nothing failed ${nothing}`, {
    details: others.map((key) => `there are failures of pair ${pairInKey(key)}${place(key)}`),
    hints: [
      `name their target: knowctl retry${address} --cc-pair-id ${pairInKey(first)}`,
      ...(address === ""
        ? []
        : ["or, if the service has moved, run the upload again: it sends the missing documents"]),
    ],
  });
}

/** The target of a retry without target flags: from the report, or from the failures in the state. */
export async function targetOf(
  context: Context,
  source: DocumentSource,
  folder: string | undefined,
  report: RunReport | undefined,
): Promise<ChosenPair | undefined> {
  if (!report) {
    return folder === undefined ? undefined : await onlyFailureTarget(context, source, folder);
  }
  const { ccPairId } = report.target;
  if (ccPairId === null) return undefined;
  return { ccPairId, connector: undefined, fromFlag: report.options?.[0]?.pairFromFlag ?? true };
}
