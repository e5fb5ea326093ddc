import type { IngestOptions } from "../ingest-options.ts";
import type { Context, Source } from "../../../context.ts";
import { prepareLines } from "../../../documents/json-document/lines.ts";
import { isTextFormat, prepareText } from "../../../documents/json-document/whole-text.ts";
import type { PayloadSetup } from "../../../documents/inspect/inspect.ts";
import type { Prepared } from "../../../documents/inspect/inspection.ts";
import { createSecretCheck } from "../../../documents/payload/secrets.ts";
import { CliError } from "../../../errors.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import type { Session } from "../session.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/shaping-flags.ts";

type GivenOptions = Pick<IngestOptions, "format" | "id" | "since">;

/** Flags about files: what comes from stdin lies in no folder and has no history. */
const fileFlags = [
  ...selectionFlags.filter((name) => name !== "format"),
  "idPrefix",
  "updatedAt",
  "owners",
  "metaCommit",
  "map",
  "images",
] as const;

/** Flags that shape a text, and not a finished document. */
const textFlags = shapingFlags.filter((name) => !(fileFlags as readonly string[]).includes(name));

/** Refuses flags that would change nothing of what stdin brings. Throws CliError `usage`. */
function refuseIdle(options: IngestOptions): void {
  const { format } = options;
  const isText = format !== undefined && isTextFormat(format);
  // Of a text those count that shape any document; a line of NDJSON is a finished one.
  const flags = [
    ...givenFlags(options, isText ? fileFlags : [...fileFlags, ...textFlags]),
    ...(options.checksum && options.flagSources?.["checksum"] !== "env" ? ["--checksum"] : []),
  ];
  if (flags.length === 0) return;
  const what = isText
    ? "a text from stdin is no file"
    : "documents from stdin are sent as they are";
  throw new CliError("usage", `${flags.join(", ")}: ${what}`, {
    hints: [
      "shape documents where they are made: knowctl ingest documents docs … | knowctl ingest -",
      ...(isText ? [] : ["or say that stdin is one text: --format markdown --id ID"]),
    ],
  });
}

/** Throws CliError `usage` when the flags do not fit what stdin is. */
export function checkStdinFlags(options: IngestOptions, { isTTY }: Source): void {
  const { format = "ndjson", id, since } = options;
  refuseIdle(options);
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
export async function* readStdinDocuments(
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
  batches: AsyncGenerator<Pending[], void>,
  context: Context,
  allowEmpty: boolean,
): Promise<AsyncGenerator<Pending[], void>> {
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
  batches: AsyncGenerator<Pending[], void>,
  close: () => void,
): AsyncIterable<Pending[]> {
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
