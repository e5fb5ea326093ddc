import { ownTargets } from "./recorded-target.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { ReadyDocument } from "../../../documents/inspect/inspection.ts";
import { scopeOf } from "../../../documents/find/scope.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { PlanEntry } from "../../../sync/plan/plan-table.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import { tombstoneMark } from "../../../sync/state/records.ts";
import { pairInKey, serviceTargets, targetFor, type Target } from "../../../sync/state/target.ts";
import type { Session, UploadSession } from "../session.ts";
import type { AccessRules } from "./access.ts";

/** `pair 2, 5 also hold`. */
function holders(pairs: ReadonlySet<number>): string {
  const named = [...pairs].toSorted((a, b) => a - b).join(", ");
  return `pair ${named} also ${pairs.size === 1 ? "holds" : "hold"}`;
}

function sharedError(pair: number, held: { count: number; first: string }): CliError {
  const count = countOf(held.count, "unchanged document");
  const first = neutraliseLine(held.first);
  const them = held.count === 1 ? "it" : "them";
  return new CliError(
    "partial",
    `by the state, pair ${pair} also holds ${count} (first: ${first}): its readers can read ${them} (--require-access)`,
    {
      hints: [
        `delete ${them} in the service, run \`knowctl state forget ID --cc-pair-id ${pair}\`, then send ${them} again with --force`,
      ],
    },
  );
}

/**
 * Replaces the documents that `isOpen` chooses by what `judge` makes of them. Batches without such
 * documents pass as they are.
 */
export function judgeEach(
  pending: AsyncIterable<Pending[]>,
  isOpen: (each: Pending) => boolean,
  judge: (each: Pending) => Promise<Pending>,
): AsyncIterable<Pending[]> {
  return {
    [Symbol.asyncIterator]() {
      const source = pending[Symbol.asyncIterator]();
      return {
        async next() {
          const found = await source.next();
          if (found.done || !found.value.some(isOpen)) return found;
          const judged: Pending[] = [];
          for (const each of found.value) judged.push(await judge(each));
          return { done: false, value: judged };
        },
        // No generator: its return() would wait for the next batch, and stdin may stay silent.
        return: async () => (await source.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

/**
 * Documents that another pair holds as well, by the records of the state. A service has one
 * document per id: the readers of all its pairs read it (observed-service.md 11.1).
 */
export interface OtherPairs {
  /** With a required access type, fails the documents that another pair opens to more readers. */
  guard(pending: AsyncIterable<Pending[]>): AsyncIterable<Pending[]>;
  /** Prints a warning if there are any. */
  tell(output: Output): Promise<void>;
  /**
   * With a required access type, the error about documents of the inputs that another pair opens to
   * more readers, though nothing of them had to be sent. Undefined for none.
   */
  unchanged(): Promise<CliError | undefined>;
}

// What the files of the project yield and one target accepted, and another target as well.
const heldTwice = `SELECT own.path AS path FROM accepted AS own
  JOIN files ON files.path = own.path AND files.part = own.part AND files.id = own.id
  JOIN accepted AS other ON other.target = ? AND other.id = own.id AND other.whole <> ?
  WHERE own.target = ? AND own.whole <> ? ORDER BY own.path`;

type Planned = Pick<ReadyDocument, "id" | "ownPair">;

/** The pairs of the targets `keys` that hold a document, without its own target. */
function pairsHolding(
  { state }: Pick<Session, "state">,
  keys: readonly string[],
  { id, own }: { id: string; own: string | undefined },
): number[] {
  const isHeld = (key: string): boolean => {
    const whole = key === own ? undefined : state.accepted(key, id)?.whole;
    return whole !== undefined && whole !== tombstoneMark;
  };
  return keys.filter(isHeld).map(pairInKey);
}

/** Returns a function that lists the other pairs that hold a document; `keys` are all targets. */
function createPairsOf(
  session: Pick<UploadSession, "state" | "targets">,
  keys: readonly string[],
): (document: Planned) => number[] {
  return ({ id, ownPair }) =>
    pairsHolding(session, keys, { id, own: targetFor(session.targets, ownPair)?.key });
}

/** The first other pair that holds a document by the state, for messages. */
export function recordedHolder(
  { state, targets }: Pick<Session, "state" | "targets">,
  { key }: Target,
  id: string,
): string | undefined {
  const keys = serviceTargets(state.database, targets.baseUrl);
  const [pair] = pairsHolding({ state }, keys, { id, own: key });
  return pair === undefined ? undefined : `pair ${pair}`;
}

/** Warns in a dry run that the upload may refuse documents for the sake of the required access type. */
export async function warnOfHeld(
  { state, targets, output }: Pick<UploadSession, "state" | "targets" | "output">,
  planned: Iterable<PlanEntry>,
  { required }: AccessRules,
): Promise<void> {
  if (required.length === 0) return;
  const pairsOf = createPairsOf(
    { state, targets },
    serviceTargets(state.database, targets.baseUrl),
  );
  const pairs = new Set<number>();
  let count = 0;
  let first = "";
  for (const { path, id = "", ownPair } of planned) {
    const others = pairsOf({ id, ownPair });
    if (others.length > 0 && ++count === 1) first = path;
    for (const pair of others) pairs.add(pair);
  }
  if (count === 0) return;
  await output.warn(
    `by the state, ${holders(pairs)} ${countOf(count, "document")} of this plan (first: ${neutraliseLine(first)}): the upload refuses ${count === 1 ? "it" : "them"} unless ${pairs.size === 1 ? "that pair is" : "those pairs are"} ${required.join(" or ")}`,
  );
}

/** Throws ApiError from guard() and unchanged() when an access type is required and the listing fails. */
export function createOtherPairs(session: UploadSession, { required }: AccessRules): OtherPairs {
  const { state, targets, source } = session;
  const { client } = session.connected;
  const keys = serviceTargets(state.database, targets.baseUrl);
  const pairs = new Set<number>();
  let count = 0;
  let first = "";
  let listing: Promise<ConnectorStatus[]> | undefined;

  const pairsOf = createPairsOf(session, keys);
  /** A pair that no record describes may be open to everybody. */
  const isRefused = async (pair: number): Promise<boolean> => {
    if (required.length === 0) return false;
    // Imported on demand: most uploads send to one pair.
    const { listConnectors } = await import("../../../api/connectors.ts");
    const records = await (listing ??= listConnectors(client));
    const type = records.find((each) => each.cc_pair_id === pair)?.access_type;
    return !required.some((each) => each === type);
  };
  const judge = async (each: Pending): Promise<Pending> => {
    const { prepared } = each;
    if (prepared.kind !== "document") return each;
    const others = pairsOf(prepared);
    if (others.length === 0) return each;
    const { path, part, id } = prepared;
    for (const pair of others) {
      if (!(await isRefused(pair))) continue;
      const reason = `${path || "stdin"}: pair ${pair} also holds ${id}: its readers could read it (--require-access); delete the document in the service, run \`knowctl state forget ID --cc-pair-id ${pair}\`, then send it again`;
      return { ...each, prepared: { kind: "failed", path, part, id, reason } };
    }
    for (const pair of others) pairs.add(pair);
    if (++count === 1) first = path || id;
    return each;
  };

  const isShared = ({ prepared }: Pending): boolean =>
    prepared.kind === "document" && pairsOf(prepared).length > 0;

  return {
    guard: (pending) => judgeEach(pending, isShared, judge),
    async unchanged() {
      if (required.length === 0 || keys.length < 2) return undefined;
      const isInInputs = scopeOf(source.inputs, source.find);
      const statement = state.database.prepare(heldTwice);
      for (const { key } of ownTargets(state, targets, source.settings)) {
        for (const other of keys.filter((each) => each !== key)) {
          const held = { count: 0, first: "" };
          for (const row of statement.iterate(other, tombstoneMark, key, tombstoneMark)) {
            const path = String(row["path"]);
            if (isInInputs(path) && ++held.count === 1) held.first = path;
          }
          const pair = pairInKey(other);
          if (held.count > 0 && (await isRefused(pair))) return sharedError(pair, held);
        }
      }
      return undefined;
    },
    async tell(output) {
      if (count === 0) return;
      await output.warn(
        `by the state, ${holders(pairs)} ${countOf(count, "document")} (first: ${neutraliseLine(first)}): ${pairs.size === 1 ? "its" : "their"} readers can read ${count === 1 ? "it" : "them"}`,
      );
    },
  };
}
