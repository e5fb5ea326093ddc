import type { Client } from "../../../api/client.ts";
import { scopeOf } from "../../../documents/find/scope.ts";
import type { ReadyDocument } from "../../../documents/inspect/inspection.ts";
import { ApiError, CliError, reworded } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, followCount } from "../../../output/terminal/progress.ts";
import type { PlanEntry } from "../../../sync/plan/plan-table.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import { mayHaveSent } from "../../../sync/run/failures.ts";
import { createIsRecorded } from "../../../sync/run/run.ts";
import { tombstoneMark } from "../../../sync/state/records.ts";
import { pairInKey, serviceTargets, targetFor, type Target } from "../../../sync/state/target.ts";
import type { Session, UploadSession } from "../session.ts";
import { createIsForbidden, requiredAccess, type AccessFlags } from "./access.ts";
import { failed, type Place, withoutOtherProjects } from "./other-projects.ts";
import { ownTargets } from "./pair.ts";
import {
  canListPairs,
  createDocumentLists,
  everyPair,
  type DocumentLists,
  type Holders,
} from "./service-lists.ts";

/**
 * Whose is a document, and may it be sent? A service has one document per id for all pairs: the
 * readers of all its pairs read it (observed-service.md 11.1), and an upload replaces it in all.
 *
 * | record of this service here | another pair has it                    | then                     |
 * |-----------------------------|----------------------------------------|--------------------------|
 * | any                         | by the state, of a type not allowed    | fails (--require-access) |
 * | any                         | by the state                           | is sent, with a warning  |
 * | none                        | by the service's lists; own pair too   | is adopted               |
 * | none                        | by the service's lists; own pair not   | fails, unless --overwrite |
 * | none                        | no                                     | is sent                  |
 * | none                        | another project of the shared record   | fails, unless --overwrite |
 */
export interface Owners {
  /** Requests the list of documents early, where the plan holds documents without a record. */
  begin(): void;
  /** Reads the lists if a document of the plan has no record. Throws ApiError where a list fails. */
  ready(plan: Plan): Promise<void>;
  /** Decides by the table. Throws ApiError where a list fails. `isAgain`: nothing is counted. */
  guard(pending: AsyncIterable<Pending[]>, isAgain?: boolean): AsyncIterable<Pending[]>;
  /** Prints a line about the adopted documents, and a warning about those of other pairs. */
  tell(output: Output, hasOtherRun: boolean): Promise<void>;
  /**
   * With a required access type, the error about documents of the inputs that another pair opens to
   * more readers, though nothing of them had to be sent. Undefined for none.
   */
  unchanged(): Promise<CliError | undefined>;
}

const idsShown = 5;

/** Counts documents; keeps the first ids for a message, and the pairs. */
interface Sample {
  count: number;
  first: string[];
  pairs: Set<number>;
}

const emptySample = (): Sample => ({ count: 0, first: [], pairs: new Set() });

function addTo(sample: Sample, name: string, pairs: readonly number[] = []): void {
  if (++sample.count <= idsShown) sample.first.push(name);
  for (const pair of pairs) sample.pairs.add(pair);
}

/** `pair 2, 5 also hold 3 documents`. */
function holdersText({ count, pairs }: Sample): string {
  const named = [...pairs].toSorted((a, b) => a - b).join(", ");
  return `pair ${named} also ${pairs.size === 1 ? "holds" : "hold"} ${countOf(count, "document")}`;
}

const firstOf = ({ first }: Sample): string => `(first: ${neutraliseLine(first[0] ?? "")})`;

/** By the state, the pairs that hold a document, without that of `own`. */
type PairsHolding = (id: string, own: Target | undefined) => number[];

function createPairsHolding({ state, targets }: Pick<Session, "state" | "targets">): PairsHolding {
  const keys = serviceTargets(state.database, targets.baseUrl);
  return (id, own) => {
    const isHeld = (key: string): boolean => {
      const whole = key === own?.key ? undefined : state.accepted(key, id)?.whole;
      return whole !== undefined && whole !== tombstoneMark;
    };
    return keys.filter(isHeld).map(pairInKey);
  };
}

/** The first other pair that holds a document by the state, for messages. */
export function recordedHolder(
  session: Pick<Session, "state" | "targets">,
  target: Target,
  id: string,
): string | undefined {
  const [pair] = createPairsHolding(session)(id, target);
  return pair === undefined ? undefined : `pair ${pair}`;
}

/** Warns in a dry run that the upload may refuse documents for the sake of the required access type. */
export async function warnOfHeld(
  session: Pick<Session, "state" | "targets" | "output" | "source">,
  planned: Iterable<PlanEntry>,
  flags: AccessFlags,
): Promise<void> {
  const required = requiredAccess(flags, session.source.config);
  if (required.length === 0) return;
  const pairsOf = createPairsHolding(session);
  const held = emptySample();
  for (const { path, id = "", ownPair } of planned) {
    const others = pairsOf(id, targetFor(session.targets, ownPair));
    if (others.length > 0) addTo(held, path, others);
  }
  if (held.count === 0) return;
  await session.output.warn(
    `by the state, ${holdersText(held)} of this plan ${firstOf(held)}: the upload refuses ${held.count === 1 ? "it" : "them"} unless ${held.pairs.size === 1 ? "that pair is" : "those pairs are"} ${required.join(" or ")}`,
  );
}

function foreignText({ path, part, id }: Place, holder: string): string {
  const place = path === "" ? `stdin:${part}:1` : path;
  return `${place}: ${holder} has ${neutraliseLine(id)}, and no record here: another project sends it; use an --id-prefix of your own, or --overwrite to replace it`;
}

const foreignUnknown = "cannot tell whether other pairs have these documents";

const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && (error.exit === "auth" || error.exit === "not-found");

const refusedText =
  "the service does not let this key list its documents, so what other pairs have under the same ids is replaced: use an --id-prefix of your own, or a key that may list documents";

const canList = (client: Client): boolean =>
  client.dialect.paths.ingestedDocuments !== undefined && canListPairs(client);

/**
 * Turns the new documents of a dry plan that stand under another pair alone into failures: the
 * upload refuses them. Where the service or the key cannot list, it says so.
 */
export async function failForeign(
  signal: AbortSignal,
  session: Pick<Session, "state" | "targets" | "output">,
  client: Client,
  { table }: Plan,
): Promise<void> {
  if (!canList(client)) return;
  const { state, targets, output } = session;
  const isRecorded = createIsRecorded(state, targets);
  const lists = createDocumentLists(client, session, signal);
  try {
    for (const entry of table.entries(["new"])) {
      const { id = "", ownPair } = entry;
      const target = targetFor(targets, ownPair);
      if (!target || isRecorded(id)) continue;
      const holders = await lists.read();
      if (!holders.isListed(id) || (await holders.isIn(target.ccPairId, id))) continue;
      table.fail(entry, foreignText({ ...entry, id }, await holders.holderOf(id, target.ccPairId)));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    signal.throwIfAborted();
    if (isRefused(error)) return await output.warn(refusedText);
    await output.note(`${foreignUnknown}: ${error.message}; the upload needs this list`);
  }
}

/**
 * Replaces the documents that `isOpen` chooses by what `judge` makes of them. Batches without such
 * documents pass as they are.
 */
function judgeEach(
  pending: AsyncIterable<Pending[]>,
  first: (batch: Pending[]) => Promise<Pending[]> | Pending[],
  isOpen: (each: Pending) => boolean,
  judge: (each: Pending) => Promise<Pending>,
): AsyncIterable<Pending[]> {
  return {
    [Symbol.asyncIterator]() {
      const source = pending[Symbol.asyncIterator]();
      return {
        async next() {
          const found = await source.next();
          if (found.done) return found;
          const batch = await first(found.value);
          if (!batch.some(isOpen)) return { done: false, value: batch };
          const judged: Pending[] = [];
          for (const each of batch) judged.push(await judge(each));
          return { done: false, value: judged };
        },
        // No generator: its return() would wait for the next batch, and stdin may stay silent.
        return: async () => (await source.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

/** What of the own documents another pair holds as well, by the state. */
function heldTwice(
  { state, source }: Pick<Session, "state" | "source">,
  own: string,
  other: string,
): Sample {
  // What the files of the project yield and one target accepted, and another target as well.
  const rows = state.database.prepare(`SELECT own.path AS path FROM accepted AS own
    JOIN files ON files.path = own.path AND files.part = own.part AND files.id = own.id
    JOIN accepted AS other ON other.target = ? AND other.id = own.id AND other.whole <> '${tombstoneMark}'
    WHERE own.target = ? AND own.whole <> '${tombstoneMark}' ORDER BY own.path`);
  const isInInputs = scopeOf(source.inputs, source.find);
  const held = emptySample();
  for (const row of rows.iterate(other, own)) {
    const path = String(row["path"]);
    if (isInInputs(path)) addTo(held, path);
  }
  return held;
}

function heldError(pair: number, held: Sample): CliError {
  const them = held.count === 1 ? "it" : "them";
  const count = countOf(held.count, "unchanged document");
  return new CliError(
    "partial",
    `by the state, pair ${pair} also holds ${count} ${firstOf(held)}: its readers can read ${them} (--require-access)`,
    {
      hints: [
        `delete ${them} in the service, run \`knowctl state forget ID --cc-pair-id ${pair}\`, then send ${them} again with --force`,
      ],
    },
  );
}

/** Whose a document without a record is, by the service's own lists. */
interface Foreign {
  isOff(): boolean;
  /** Whether a document must be judged: the list has it, or is not read yet. */
  mayBeListed(id: string): boolean;
  /** Undefined for a document that no other pair has, or that may be sent without asking. */
  verdict(document: ReadyDocument): Promise<"adopted" | { holder: string } | undefined>;
  ready(plan: Plan): Promise<void>;
}

function createForeign(
  { state, targets, output, progress, connected }: UploadSession,
  lists: DocumentLists,
  isAsked: boolean,
): Foreign {
  const isRecorded = createIsRecorded(state, targets);
  const isOff = (): boolean => !isAsked || !canList(connected.client) || lists.isRefused;
  let holders: Holders | undefined;
  /** Waits for the lists. False where the key may not read them: then nothing is asked any more. */
  const orRefused = async (work: (all: Holders) => Promise<void>): Promise<boolean> => {
    try {
      holders ??= await lists.read();
      await work(holders);
      return true;
    } catch (error) {
      if (error instanceof ApiError && !isRefused(error)) {
        const hint = "--overwrite sends without asking: it replaces what another pair has";
        throw reworded(error, `${foreignUnknown}: ${error.message}`, [...error.hints, hint]);
      }
      if (!isRefused(error)) throw error;
      lists.isRefused = true;
      await progress.stop();
      await output.warn(refusedText);
      return false;
    }
  };
  const hasUnrecorded = ({ table }: Plan, isWanted: (id: string) => boolean): boolean => {
    for (const { id = "" } of table.entries(["new"])) {
      if (isWanted(id) && !isRecorded(id)) return true;
    }
    return false;
  };
  return {
    isOff,
    mayBeListed: (id) => holders?.isListed(id) !== false,
    async verdict(document) {
      const { id, ownPair } = document;
      const target = targetFor(targets, ownPair);
      if (!target || isRecorded(id)) return undefined;
      let isOwn = false;
      const isKnown = await orRefused(async (all) => {
        isOwn = !all.isListed(id) || (await all.isIn(target.ccPairId, id));
      });
      if (!isKnown || !holders?.isListed(id)) return undefined;
      if (!isOwn) return { holder: await holders.holderOf(id, target.ccPairId) };
      return mayHaveSent(state, targets, document) ? undefined : "adopted";
    },
    async ready(plan) {
      if (isOff() || plan.table.count("new") === 0 || !hasUnrecorded(plan, () => true)) return;
      followCount(progress, "waiting for the list of the service's documents,", () => 0);
      await orRefused(async (all) => {
        if (all.isEmpty || !hasUnrecorded(plan, all.isListed)) return;
        // All lists before the first document: a list that fails must fail the whole run.
        for (const pair of plan.pairs) {
          if (pair !== undefined && pair !== everyPair) await all.readPair(pair);
        }
      });
    },
  };
}

/** Flags that decide what may be sent. */
export interface OwnerFlags extends AccessFlags {
  /** Send documents that stand under another pair, too: nothing is asked. */
  overwrite?: boolean;
  /** False: the run keeps no record. */
  state?: string | boolean;
}

/** Creates the owners of the documents of one upload. */
export function createOwners(
  session: UploadSession,
  flags: OwnerFlags,
  lists: DocumentLists,
): Owners {
  const { state, targets, source, connected } = session;
  const required = requiredAccess(flags, source.config);
  const isForbidden = createIsForbidden(connected.client, required);
  const pairsHolding = createPairsHolding(session);
  const foreign = createForeign(session, lists, flags.overwrite !== true);
  const [adopted, held] = [emptySample(), emptySample()];

  const judge = async (each: Pending, isAgain: boolean): Promise<Pending> => {
    const { prepared } = each;
    if (prepared.kind !== "document") return each;
    const { id, path, ownPair } = prepared;
    const others = pairsHolding(id, targetFor(targets, ownPair));
    if (others.length === 0) {
      if (foreign.isOff() || !foreign.mayBeListed(id)) return each;
      const verdict = await foreign.verdict(prepared);
      if (verdict === undefined) return each;
      if (verdict !== "adopted")
        return failed(each, prepared, foreignText(prepared, verdict.holder));
      if (!isAgain) addTo(adopted, id);
      return { ...each, isAdopted: true };
    }
    for (const pair of others) {
      if (!(await isForbidden(pair))) continue;
      const reason = `${path || "stdin"}: pair ${pair} also holds ${id}: its readers could read it (--require-access); delete the document in the service, run \`knowctl state forget ID --cc-pair-id ${pair}\`, then send it again`;
      return failed(each, prepared, reason);
    }
    if (!isAgain) addTo(held, path || id, others);
    return each;
  };
  const isOpen = ({ prepared }: Pending): boolean => {
    if (prepared.kind !== "document") return false;
    if (!foreign.isOff() && foreign.mayBeListed(prepared.id)) return true;
    return pairsHolding(prepared.id, targetFor(targets, prepared.ownPair)).length > 0;
  };

  return {
    begin() {
      if (!foreign.isOff()) lists.read().catch(() => {});
    },
    ready: foreign.ready,
    guard(pending, isAgain = false) {
      const mayBeOthers = session.record?.hasOthers === true && flags.overwrite !== true;
      const first = (batch: Pending[]) =>
        mayBeOthers ? withoutOtherProjects(batch, session) : batch;
      return judgeEach(pending, first, isOpen, (each) => judge(each, isAgain));
    },
    async tell({ note, warn }, hasOtherRun) {
      if (adopted.count > 0 && flags.state !== false && !hasOtherRun) {
        const more = adopted.count > idsShown ? ", …" : "";
        await note(
          `the pair already had ${countOf(adopted.count, "document")} without a record here (${neutraliseLine(adopted.first.join(", ") + more)}): adopted, as after a lost state`,
        );
      }
      if (held.count === 0) return;
      await warn(
        `by the state, ${holdersText(held)} ${firstOf(held)}: ${held.pairs.size === 1 ? "its" : "their"} readers can read ${held.count === 1 ? "it" : "them"}`,
      );
    },
    async unchanged() {
      const keys = serviceTargets(state.database, targets.baseUrl);
      if (required.length === 0 || keys.length < 2) return undefined;
      for (const { key } of ownTargets(state, targets, source.settings)) {
        for (const other of keys.filter((each) => each !== key)) {
          const twice = heldTwice(session, key, other);
          const pair = pairInKey(other);
          if (twice.count > 0 && (await isForbidden(pair))) return heldError(pair, twice);
        }
      }
      return undefined;
    },
  };
}
