import { dialects, onyxHint, type DialectName } from "../../../api/dialects.ts";
import { createGate } from "../../../api/retry/gate.ts";
import type { Client } from "../../../api/client.ts";
import { findDocumentSize } from "../../../api/evidence.ts";
import type { VerifiedDocument } from "../../../checks/verify/decide.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { emptyCounts, type VerifyCounts } from "../../../output/report/from/verified.ts";
import { createLog } from "../../../sync/state/tables.ts";
import type { State } from "../../../sync/state/state.ts";
import type { VerifiedStore } from "../../../sync/state/verified.ts";
import { textInBody, type Expected, type ExpectedText } from "./expected.ts";
import { unableError } from "../look/search.ts";
import { verifyDocuments } from "../verifying.ts";

const openAtOnce = 256;
/** Limit that keeps the disk from filling up. */
const mostBytes = 1024 * 1024 * 1024;

/** How long `ingest --verify` waits for the index by default. */
export const defaultWaitMs = 30_000;

type AddResult = (result: VerifiedDocument) => Promise<void>;

/** Checks the documents of an upload when it has ended. */
export interface SentCheck {
  /** Keeps a document that the service has just accepted. */
  add(document: Expected, body: Uint8Array): void;
  count(): number;
  /** Checks what add() kept. */
  run(add: AddResult): Promise<VerifyCounts>;
  /** Checks other documents, which an earlier run sent. */
  runOthers(documents: AsyncIterable<ExpectedText>, add: AddResult): Promise<VerifyCounts>;
  close(): void;
}

/** Throws CliError `not-found` where the dialect cannot show what is indexed. `more` ends the message. */
export function refuseUncheckable(dialect: DialectName, more = ""): void {
  if (dialects[dialect].paths.documentSize) return;
  throw new CliError("not-found", `the ${dialect} dialect cannot show what is indexed${more}`, {
    hints: [
      onyxHint,
      "`knowctl verify --via chat --depth exists` asks the assistant once for each document; it costs tokens",
    ],
  });
}

/**
 * Asks once for a document that cannot exist. Throws ApiError `auth` where the key may not ask,
 * and CliError `not-found` where the service cannot tell.
 */
async function refuseUnableService(client: Client): Promise<void> {
  try {
    await findDocumentSize(client, "knowctl-no-such-document");
  } catch (error) {
    throw unableError(error, "; nothing was sent");
  }
}

/**
 * Prepares the check of an upload, before anything is sent. Texts wait in a table on disk. Throws
 * as refuseUncheckable(), and where the service or the key cannot tell. The caller closes it.
 */
export async function openSentCheck(
  context: Context,
  request: {
    client: Client;
    /** Keeps the texts in a temporary table. */
    database: State["database"];
    verified: VerifiedStore;
    concurrency: number;
    rate: number | undefined;
    waitMs: number;
    /** Metadata key of the version, see ingest.versionTag. */
    versionKey: string | undefined;
  },
): Promise<SentCheck> {
  const { client, database, verified, concurrency, rate, waitMs, versionKey } = request;
  refuseUncheckable(client.dialect.name, "; nothing was sent");
  await refuseUnableService(client);
  const log = createLog<ExpectedText>(database, "sent");
  let bytes = 0;
  let count = 0;
  let checked = 0;
  // After an interruption: the next upload must not take them for found.
  const leaveOpen = (): void => {
    const batch: Parameters<VerifiedStore["leaveOpen"]>[0][number][] = [];
    const flush = (): void => verified.leaveOpen(batch.splice(0), context.now());
    for (const { document } of log.list()) {
      const { target, id, sentAtMs = 0 } = document;
      if (target !== undefined) batch.push({ target, id, sentAtMs });
      if (batch.length >= openAtOnce) flush();
    }
    flush();
  };
  const documents = async function* (): AsyncGenerator<ExpectedText> {
    yield* log.list();
  };
  const runOthers: SentCheck["runOthers"] = async (others, add) => {
    const counts = emptyCounts();
    const { signal } = context;
    const gate = createGate({
      ceiling: concurrency,
      ratePerSecond: rate,
      clock: context,
      signal,
    });
    const limits = { client, concurrency, gate, waitMs };
    const fixed = { depth: "text", expectsHidden: false } as const;
    const checks = { ...limits, ...fixed, documents: others };
    await verifyDocuments(context, checks, async ({ document, result }) => {
      counts[result.result]++;
      const { target, id } = document;
      const atMs = Date.parse(result.verifiedAt);
      if (target !== undefined) verified.save([{ target, id, result: result.result, atMs }]);
      await add(result);
    });
    return counts;
  };
  return {
    add(document, body) {
      count++;
      const { target, id, sentAtMs } = document;
      if (target !== undefined && sentAtMs !== undefined) {
        // The run may be killed before the check.
        verified.leaveOpen([{ target, id, sentAtMs }], sentAtMs - 1, "NORMAL");
      }
      bytes += body.length;
      const isKept = bytes <= mostBytes;
      const text = isKept
        ? textInBody(body, versionKey)
        : { unknown: "its text was too large to keep" };
      log.add({ document, text });
    },
    count: () => count,
    run: (add) =>
      runOthers(documents(), async (result) => {
        checked++;
        await add(result);
      }),
    runOthers,
    close() {
      try {
        if (checked < count) leaveOpen();
      } catch {
        // The state failed, which ended the run: that error is thrown.
      }
    },
  };
}
