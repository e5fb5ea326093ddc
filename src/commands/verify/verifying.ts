import type { Client } from "../../api/client.ts";
import type { Gate } from "../../api/retry/gate.ts";
import {
  decideResult,
  type Facts,
  type Evidence,
  type VerifiedDocument,
} from "../../checks/verify/decide.ts";
import type { Comparison } from "../../checks/verify/compare-text.ts";
import { createTextJudge, type TextVerdict } from "../../checks/verify/judge-text.ts";
import type { Context } from "../../context.ts";
import { forEachOf } from "../concurrency.ts";
import { findCauses, type Lost } from "./causes.ts";
import type { Expected, ExpectedText, KnownText } from "./expected/expected.ts";
import { findBySearch, type SearchWay, findByVersion, lookAt, type Reader } from "./look/search.ts";

/** Characters of the texts that wait for another look. */
const mostKept = 128 * 1024 * 1024;

/** Documents to look at again while `--wait` lasts, within the memory for their texts. */
function createLate(waitMs: number) {
  const kept: ExpectedText[] = [];
  let length = 0;
  return {
    /** Keeps a document for later; false if it is not looked at again. */
    keep(item: ExpectedText): boolean {
      if (waitMs <= 0 || length >= mostKept) return false;
      const { text } = item;
      const sections = "sent" in text ? text.sent.sections : [];
      length += sections.reduce((sum, each) => sum + each.length, 1000);
      kept.push(item);
      return true;
    },
    async *items(): AsyncGenerator<ExpectedText> {
      yield* kept;
    },
  };
}

export interface VerifyRequest {
  /** The profile's own client. */
  client: Client;
  /** Another reader, whose view is checked. */
  reader?: Client | undefined;
  depth: "text" | "exists";
  /** A search in place of the look-ups. */
  via?: SearchWay | undefined;
  /** With a reader: the documents should be hidden from this reader. */
  expectsHidden: boolean;
  concurrency: number;
  /** Of all requests of the check. */
  gate: Gate;
  /** How long to ask again for a document that is not there yet, in milliseconds. */
  waitMs: number;
  documents: AsyncIterable<ExpectedText>;
  /** Loads texts for documents that were checked without; only for lost ones. */
  textsOf?: ((documents: readonly Expected[]) => AsyncIterable<ExpectedText>) | undefined;
}

/** A result with what the state records of it. */
export interface Verified {
  document: Expected;
  result: VerifiedDocument;
}

interface Run {
  context: Context;
  request: VerifyRequest;
  /** Whose view is checked, and the profile itself. */
  reader: Reader;
  own: Reader;
  startedMs: number;
}

// Documents that wait for the index hold no request slot.
const documentsAtOnce = 64;
const firstWaitMs = 500;
const longestWaitMs = 8000;

/** Whether the index may still become as expected. */
function isLate({ expectsHidden, via }: VerifyRequest, facts: Facts): boolean {
  const { chunks, text, version } = facts;
  if (expectsHidden) return false;
  // More text may be the older version, with a paragraph that was removed since.
  const isOld = text === "other" || text === "more" || text === "unsure";
  return (
    chunks === "none" ||
    isOld ||
    version === "not found" ||
    (via !== undefined && chunks === "failed")
  );
}

/** Checks a document until it is as expected or the time is up. */
async function checkUntil(run: Run, item: ExpectedText): Promise<Checked> {
  const { context, request, startedMs } = run;
  let waitMs = firstWaitMs;
  let waitedMs = 0;
  for (;;) {
    const usedMs = Math.max(waitedMs, context.elapsed() - startedMs);
    const leftMs = request.waitMs - usedMs;
    // Half of the wait is jitter.
    const pauseMs = Math.ceil(Math.min(leftMs, waitMs * (0.5 + context.random() / 2)));
    if (leftMs > 0) await context.sleep(pauseMs, context.signal);
    const checked = await checkOne(run, item);
    if (leftMs <= 0 || !isLate(request, checked.facts)) return checked;
    waitedMs += pauseMs;
    waitMs = Math.min(longestWaitMs, waitMs * 2);
  }
}

/** A checked document before its result is decided. */
interface Checked {
  document: Expected;
  facts: Facts;
  evidence: Evidence[];
  comparison: Comparison | undefined;
  problem: string | undefined;
  text: KnownText | undefined;
}

async function checkOne(run: Run, { document, text }: ExpectedText): Promise<Checked> {
  const { request, reader, own } = run;
  const { depth, via: way } = request;
  const known = "sent" in text ? text.sent : undefined;
  const version = !way && depth === "text" && "sent" in text ? text.version : undefined;
  const found =
    version && known ? await findByVersion(reader, document, version, known) : undefined;
  const look =
    found !== undefined && found !== "not found"
      ? found
      : await (way
          ? findBySearch(reader, document, known, { way, depth })
          : lookAt(reader, document.storedId, depth === "text" ? known : undefined));
  const facts: Facts = { ...look.facts };
  if (found === "not found") facts.version = found;
  const { evidence, comparison } = look;
  let { problem } = look;
  if (depth === "text" && facts.text === "unasked" && "unknown" in text) {
    facts.text = "unread";
    problem = text.unknown;
  }
  if (request.reader && facts.chunks === "none") {
    const mine = await lookAt(own, document.storedId, undefined);
    if (mine.facts.chunks === "some" || mine.facts.chunks === "none") {
      facts.ownKey = mine.facts.chunks;
    }
    for (const each of mine.evidence) {
      evidence.push({ ...each, proves: `the profile's own key: ${each.proves}` });
    }
  }
  return { document, facts, evidence, comparison, problem, text };
}

/** The document with what the judge says of its text. */
function withVerdict(checked: Checked, { text, why }: TextVerdict): Checked {
  return { ...checked, facts: { ...checked.facts, text }, problem: checked.problem ?? why };
}

const lonely = "the profile's own key does not find it either: the test proves nothing";

function toVerified(run: Run, checked: Checked): Verified {
  const { document, facts, evidence, problem } = checked;
  let { result, reason } = decideResult(facts);
  if (run.request.expectsHidden && facts.chunks === "none" && facts.ownKey !== "some") {
    [result, reason] = ["unknown", lonely];
  }
  if (result === "unknown" && problem !== undefined) reason = problem;
  const lacking = checked.comparison?.firstLacking;
  if (result === "stale" && lacking) reason = `${reason}: it lacks "${lacking}"`;
  const { id, path = null, sentAtMs } = document;
  return {
    document,
    result: {
      id,
      path,
      result,
      reason,
      evidence,
      sentAt: sentAtMs === undefined ? null : new Date(sentAtMs).toISOString(),
      verifiedAt: new Date(run.context.now()).toISOString(),
    },
  };
}

/** Fills in the texts of lost documents, which the keyword search needs. */
async function addTexts(lost: readonly Checked[], { textsOf }: VerifyRequest): Promise<void> {
  const without = lost.filter(({ text }) => text === undefined || !("sent" in text));
  if (!textsOf || without.length === 0) return;
  const byId = new Map(without.map((each) => [each.document.id, each]));
  for await (const { document, text } of textsOf(without.map(({ document }) => document))) {
    const each = byId.get(document.id);
    if (each) each.text = text;
  }
}

/** Extra requests that `--depth exists` may send: see trust.md 4. */
function mostSearchesOf({ depth }: VerifyRequest, count: number): number {
  return depth === "text" ? Number.MAX_SAFE_INTEGER : Math.max(20, Math.floor(count / 100) - 10);
}

/**
 * Checks documents against the index. Calls `add` with each result: at once where it is decided,
 * at the end where the other documents or the causes decide. Throws ApiError when the service or
 * the key cannot tell at all, and the signal's reason.
 */
export async function verifyDocuments(
  context: Context,
  request: VerifyRequest,
  add: (verified: Verified) => Promise<void>,
): Promise<void> {
  const { concurrency, gate } = request;
  const own: Reader = { client: request.client, gate };
  const reader = request.reader ? { client: request.reader, gate } : own;
  const run: Run = { context, request, reader, own, startedMs: context.elapsed() };
  const judge = createTextJudge();
  const undecided: Checked[] = [];
  const lost: Checked[] = [];
  let count = 0;
  const width = request.via ? Math.min(concurrency, 8) : documentsAtOnce;
  const late = createLate(request.waitMs);
  const settle = async (checked: Checked): Promise<void> => {
    const { facts } = checked;
    const { comparison } = checked;
    if (facts.chunks === "none") lost.push(checked);
    else if (comparison) {
      judge.note(comparison);
      const verdict = judge.decideNow(comparison);
      if (verdict) await add(toVerified(run, withVerdict(checked, verdict)));
      else undecided.push({ ...checked, text: undefined });
    } else await add(toVerified(run, checked));
  };
  await forEachOf(request.documents, width, async (item) => {
    context.signal.throwIfAborted();
    count++;
    const checked = await checkOne(run, item);
    if (isLate(request, checked.facts) && late.keep(item)) return;
    await settle(checked);
  });
  await forEachOf(late.items(), width, async (item) => settle(await checkUntil(run, item)));
  for (const checked of undecided) {
    const { comparison } = checked;
    if (!comparison) continue;
    await add(toVerified(run, withVerdict(checked, judge.decide(comparison))));
  }
  const open = lost.filter(({ facts }) => facts.ownKey !== "some" && !request.expectsHidden);
  await addTexts(open, request);
  const causes = {
    own: request.client,
    reader: request.reader ?? request.client,
    mostSearches: mostSearchesOf(request, count),
    gate,
  };
  await findCauses(open satisfies Lost[], causes);
  for (const checked of lost) {
    // Indexed since the look-up: the second look decides.
    const isLateOne = checked.facts.search === "visible" && checked.text !== undefined;
    const again = isLateOne
      ? await checkOne(run, { document: checked.document, text: checked.text! })
      : undefined;
    await add(toVerified(run, again?.facts.chunks === "some" ? again : checked));
  }
}
