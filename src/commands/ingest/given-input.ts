import type { Context, Source } from "../../context.ts";
import { prepareLines } from "../../documents/given-lines.ts";
import { isTextFormat, prepareText } from "../../documents/given-text.ts";
import type { PayloadSetup } from "../../documents/inspect.ts";
import type { Prepared } from "../../documents/inspection.ts";
import { createSecretCheck } from "../../documents/secrets.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/output.ts";
import type { Due } from "../../sync/due.ts";
import type { IngestOptions } from "./ingest.ts";
import type { Session } from "./session.ts";
import { givenFlags, shapingFlags } from "./shaping-flags.ts";

type GivenOptions = Pick<IngestOptions, "format" | "id" | "since">;

/** Warns of flags that shape documents, where stdin brings finished ones. */
export async function warnOfMappingFlags(output: Output, options: IngestOptions): Promise<void> {
  if (options.format !== undefined && isTextFormat(options.format)) return;
  const flags = givenFlags(options, shapingFlags);
  if (flags.length === 0) return;
  await output.warn(`documents from stdin are sent as they are, whatever ${flags.join(", ")} says`);
}

/** Throws CliError `usage` when the flags do not fit what stdin is. */
export function checkGiven(
  { format = "ndjson", id, since }: GivenOptions,
  { isTTY }: Source,
): void {
  if (since !== undefined) {
    throw new CliError("usage", "--since chooses files; what stdin brings is taken whole", {
      hints: ["for example `knowctl ingest documents docs --since REF | knowctl ingest -`"],
    });
  }
  if (format !== "ndjson" && !isTextFormat(format)) {
    throw new CliError("usage", `--format ${format}: stdin holds NDJSON or one text`, {
      hints: [`name the file instead: knowctl ingest FILE --format ${format}`],
    });
  }
  if (format === "ndjson" && id !== undefined) {
    throw new CliError("usage", "--id names one document; a line of NDJSON has its own", {
      hints: ["say what stdin holds, for example --format markdown"],
    });
  }
  if (format !== "ndjson" && (id ?? "").trim() === "") {
    throw new CliError("usage", `--format ${format}: a document from stdin needs an id`, {
      hints: ["give --id ID; the same id later replaces the document"],
    });
  }
  if (!isTTY) return;
  throw new CliError("usage", "stdin is a terminal: nothing is piped into `ingest -`", {
    hints: ["for example `knowctl ingest - < documents.ndjson`"],
  });
}

/** Chunks of stdin, which end when the run does: a writer may be silent for hours. */
export function openChunks({
  stdin,
  signal,
}: Context): AsyncIterable<Uint8Array> & { close(): void } {
  let isClosed = false;
  const close = (): void => {
    isClosed = true;
    signal.removeEventListener("abort", close);
    stdin.stream.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  return {
    close,
    async *[Symbol.asyncIterator]() {
      try {
        yield* stdin;
      } catch (error) {
        if (!isClosed) throw error;
      }
    },
  };
}

/** The documents of stdin in batches, as they come. */
export async function* readGiven(
  chunks: AsyncIterable<Uint8Array>,
  { format = "ndjson", id = "" }: GivenOptions,
  { source, targets, keys }: Session,
): AsyncGenerator<Prepared[], void> {
  const secretIn = createSecretCheck(keys, source.settings);
  const { dropAccess } = source.settings;
  const setup: PayloadSetup = { pair: targets.pair, dropAccess, secretIn };
  if (!isTextFormat(format)) return yield* prepareLines(chunks, setup);
  const prepared = await prepareText(chunks, { id, format }, source.settings, setup);
  if (prepared) yield [prepared];
}

/** The same batches, the first of them read already; its absence is an error. */
export async function readFirst(
  batches: AsyncGenerator<Due[], void>,
  context: Context,
  allowEmpty: boolean,
): Promise<AsyncGenerator<Due[], void>> {
  const first = await batches.next();
  context.signal.throwIfAborted();
  if (first.done && !allowEmpty) {
    throw new CliError("usage", "0 documents found on stdin", {
      hints: [
        "check what writes to it: one JSON document a line",
        "use --allow-empty where that is expected",
      ],
    });
  }
  return (async function* () {
    if (first.value) yield first.value;
    yield* batches;
  })();
}

/** Batches whose end does not wait for what stdin has not sent yet. */
export function closable(
  batches: AsyncGenerator<Due[], void>,
  close: () => void,
): AsyncIterable<Due[]> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => batches.next(),
      return() {
        close();
        return batches.return();
      },
    }),
  };
}
