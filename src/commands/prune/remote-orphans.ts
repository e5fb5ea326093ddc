import { listConnectors } from "../../api/connectors.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { formatOf } from "../../documents/read/readers.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import type { ListedTable } from "../../sync/drift/listed-table.ts";
import type { UnlistedOrphan } from "../../sync/orphans/orphan-table.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { Target } from "../../sync/state/target.ts";
import { addList, compareWithService, refuseUnlistablePair } from "../status/remote/compare.ts";
import { coversProject, coversRoot } from "../status/remote/whole.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import { isConnected, type ConnectedSession, type Session } from "../ingest/session.ts";
import { refuseIncompleteCheckout } from "./complete-checkout.ts";
import type { OrphansOptions } from "./remove-orphans.ts";

function refuse(reason: string, ...hints: string[]): CliError {
  return new CliError("usage", `--remote: ${reason}`, { hints });
}

// The prefix docs is also the beginning of docs2/a.md, docs-old/a.md and docs.md.
const nameEnd = /[\p{L}\p{M}\p{N} _.-]$/u;

/**
 * Checks that the inputs allow to list, or with --prune to delete, documents that only the service
 * has. Throws CliError `usage` or `not-found`.
 */
export async function checkRemote(
  context: Context,
  source: DocumentSource,
  { prune }: OrphansOptions,
): Promise<void> {
  refuseUnlistablePair(source.config.dialect, "--remote");
  if (!coversProject(source)) {
    throw refuse(
      "only the whole project shows which documents have no file",
      "omit paths and --include",
    );
  }
  if (!prune) return;
  if (source.settings.idPrefix === "") {
    throw refuse(
      "--prune needs an id prefix: without one, every document of the pair may be another project's",
      "name the prefix of the uploads with --id-prefix, or set ingest.idPrefix",
    );
  }
  if (nameEnd.test(source.settings.idPrefix)) {
    throw refuse(
      `--prune needs a prefix that ends with a separator: the ids of another project may begin with ${neutraliseLine(source.settings.idPrefix)} too`,
      "if the uploads have this prefix, delete the documents with `knowctl api`",
    );
  }
  if (!coversRoot(source)) {
    throw refuse(
      "--prune needs the whole project root, not only the configured include",
      "name the root: knowctl ingest orphans ROOT --remote --prune",
    );
  }
  await refuseIncompleteCheckout(context, source.settings.root);
}

/** Whether a recorded id is the prefix and the path of its file: a part of the prefix has no such record. */
function isRecordedPrefix({ state }: Session, { key }: Target, prefix: string): boolean {
  const select = state.database.prepare(
    `SELECT 1 AS yes FROM accepted WHERE target = ?1 AND id >= ?2
      AND id = ?2 || path || CASE part WHEN 0 THEN '' ELSE '#' || part END LIMIT 1`,
  );
  return select.get(key, prefix) !== undefined;
}

/**
 * Whether an id is the prefix and the path of a file or row. Front matter may have any other id,
 * also in a file that this command did not read.
 */
function isPathId(id: string, prefix: string): boolean {
  const path = id.slice(prefix.length).replace(/#\d+$/, "");
  const isPlain = path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
  return isPlain && formatOf(path) !== undefined;
}

/** Refuses where the pair is not mainly this project's, or the state is not the whole record of it. */
function refuseForeign(recorded: number, listed: number, { ccPairId }: Target): void {
  if (recorded * 2 >= listed) return;
  throw refuse(
    `the state records only ${formatCount(recorded)} of the ${countOf(listed, "document")} of cc-pair ${ccPairId}, fewer than half; nothing was removed`,
    "the state may be lost or of another machine, or the pair belongs to another project",
  );
}

// Documents that were sent without a pair are in this one (observed-service.md 3.9).
const defaultPair = 1;

/** Adds the lists of all other pairs: deleting a document deletes it there too. Returns the pairs. */
async function addOtherPairs(
  context: Context,
  { connected: { client } }: ConnectedSession,
  listed: ListedTable,
  { ccPairId }: Target,
): Promise<number[]> {
  const records = await listConnectors(client);
  const shown = records.map((each) => each.cc_pair_id).filter((each) => each !== null);
  if (shown.length < records.length || !shown.includes(ccPairId)) {
    throw refuse(
      `the service does not list all connectors by their ids for this key, so another one may have a document too; nothing was removed`,
      "use the key of an administrator; `knowctl connectors list` shows what the key sees",
    );
  }
  const others = [...new Set([...shown, defaultPair])].filter((each) => each !== ccPairId);
  for (const each of others) {
    try {
      await addList(context, client, listed, each);
    } catch (error) {
      const isUnknown = each === defaultPair && !shown.includes(defaultPair);
      if (!isUnknown || !(error instanceof CliError) || error.exit !== "auth") throw error;
    }
  }
  return others;
}

/**
 * Yields the documents of a pair that neither a file nor a record of this project has. With --prune
 * it leaves out documents that another pair has too, and ids that are no paths. Throws CliError `usage` where the guards
 * forbid a removal, and ApiError when a list fails.
 */
export async function* findRemoteOrphans(
  context: Context,
  session: Session,
  plan: Plan,
  target: Target,
  { prune }: OrphansOptions,
): AsyncGenerator<UnlistedOrphan> {
  if (!isConnected(session)) return;
  const { output } = session;
  const compared = await compareWithService(context, session, plan, [target]);
  const { drift, listed, storedId, noExtra } = compared;
  const { idPrefix } = session.source.settings;
  if (prune && !isRecordedPrefix(session, target, idPrefix)) {
    throw refuse(
      `no recorded document has the id prefix ${neutraliseLine(idPrefix)}`,
      "check --id-prefix",
    );
  }
  if (prune) refuseForeign(compared.recorded(target), listed.count([target.ccPairId]), target);
  const isNeeded = prune && drift.count("extra") > 0;
  const others = isNeeded ? await addOtherPairs(context, session, listed, target) : [];
  if (noExtra !== undefined) await output.note(`extra documents were not determined: ${noExtra}`);
  for (const { id } of drift.list("extra")) {
    if (prune && !isPathId(id, idPrefix)) {
      await output.note(
        `kept: ${neutraliseLine(id)} (not the path of a file: an excluded file may have this id)`,
      );
      continue;
    }
    const encoded = storedId(id);
    const stored = listed.has(target.ccPairId, encoded) ? encoded : id;
    const other = others.find((each) => listed.has(each, stored));
    if (other !== undefined) {
      await output.note(`kept: ${neutraliseLine(id)} (cc-pair ${other} has it too)`);
      continue;
    }
    const reason = "no file and no record of this project has it";
    yield { id, path: "", part: 0, storedId: stored, class: "extra", reason };
  }
}
