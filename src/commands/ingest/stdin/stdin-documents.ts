import type { IngestOptions } from "../ingest-options.ts";
import type { Context, Source } from "../../../context.ts";
import { loadExamine } from "../../../checks/lint/load-examine.ts";
import { prepareLines } from "../../../documents/json-document/lines.ts";
import { isRowFormat, prepareRows } from "../../../documents/json-document/stdin-rows.ts";
import { isTextFormat, prepareText } from "../../../documents/json-document/whole-text.ts";
import type { PayloadSetup } from "../../../documents/inspect/inspect.ts";
import type { Prepared } from "../../../documents/inspect/inspection.ts";
import { CliError } from "../../../errors.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import type { Session } from "../session.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/mapping-flags.ts";

type StdinOptions = Pick<IngestOptions, "format" | "id" | "since" | "map">;

/** What stdin brings: finished documents, rows to map, or one text. */
type Content = "documents" | "rows" | "text" | undefined;

function contentOf({ format, map }: StdinOptions): Content {
  if (format === undefined) return map === undefined ? "documents" : "rows";
  if (isTextFormat(format)) return "text";
  return isRowFormat(format) ? "rows" : undefined;
}

/** Flags that need files: documents from stdin have no folder and no history. */
const fileFlags = [
  ...selectionFlags.filter((name) => name !== "format"),
  "idPrefix",
  "updatedAt",
  "owners",
  "metaCommit",
  "images",
] as const;

const needsFiles = shapingFlags.filter((name) => (fileFlags as readonly string[]).includes(name));

/** Flags that shape a text or a row, but not a finished document. */
const mappingFlags = shapingFlags.filter((name) => !needsFiles.includes(name) && name !== "map");

/** Flags that shape Markdown, which no row is. */
const markdownFlags = ["sections", "anchors"] as const;

const flagsWithoutEffect = {
  documents: [...fileFlags, ...mappingFlags],
  rows: [...fileFlags, ...markdownFlags],
  text: [...fileFlags, "map"],
} as const;

/** Throws CliError `usage` for flags without effect on what stdin brings. */
function refuseFlagsWithoutEffect(options: IngestOptions, content: Content): void {
  const flags = [
    ...givenFlags(options, flagsWithoutEffect[content ?? "documents"]),
    ...(options.checksum ? ["--checksum"] : []),
  ];
  if (flags.length === 0) return;
  const reasons = {
    documents: "documents from stdin are sent unchanged",
    rows: "these flags need files, and stdin holds rows",
    text: "these flags need files, and stdin is a text",
  };
  const what = reasons[content ?? "documents"];
  throw new CliError("usage", `${flags.join(", ")}: ${what}`, {
    hints: [
      "use these flags where the documents are made: knowctl convert docs … | knowctl ingest -",
      ...(content === "documents" ? ["or read stdin as one text: --format markdown --id ID"] : []),
    ],
  });
}

/** Throws CliError `usage` when the flags do not match the format of stdin. */
export function checkStdinFlags(options: IngestOptions, { isTTY }: Source): void {
  const { format = "ndjson", id, since } = options;
  const content = contentOf(options);
  refuseFlagsWithoutEffect(options, content);
  if (since !== undefined) {
    throw new CliError("usage", "--since selects files; all documents from stdin are sent", {
      hints: ["for example `knowctl convert docs --since REF | knowctl ingest -`"],
    });
  }
  if (content === undefined) {
    throw new CliError("usage", `--format ${format}: stdin must be NDJSON or one text, or rows`, {
      hints: [`name the file instead: knowctl ingest FILE --format ${format}`],
    });
  }
  if (content !== "text" && id !== undefined) {
    const each = format === "ndjson" ? "each line of NDJSON" : "each row";
    throw new CliError("usage", `--id names one document; ${each} has its own id`, {
      hints: ["set the format of stdin, for example --format markdown"],
    });
  }
  if (content === "text" && (id ?? "").trim() === "") {
    throw new CliError("usage", `--format ${format}: a document from stdin needs an id`, {
      hints: ["add --id ID; a later upload with the same id replaces the document"],
    });
  }
  if (!isTTY) return;
  throw new CliError("usage", "stdin is a terminal: nothing is piped into `ingest -`", {
    hints: ["for example `knowctl ingest - < documents.ndjson`"],
  });
}

/** Chunks of stdin, which end on close and on abort: the writer may be silent for hours. */
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

/** Yields the documents of stdin in batches as they arrive. */
export async function* readStdinDocuments(
  chunks: AsyncIterable<Uint8Array>,
  options: StdinOptions,
  { source, targets, keys }: Session,
): AsyncGenerator<Prepared[], void> {
  const { settings, checks } = source;
  const { dropAccess } = settings;
  const examine = await loadExamine(checks && { ...checks, keys }, settings);
  const setup: PayloadSetup = { pair: targets.pair, dropAccess, examine };
  const { format = "ndjson", id = "" } = options;
  const areRows = contentOf(options) === "rows";
  if (areRows && isRowFormat(format)) {
    return yield* prepareRows(chunks, format, source.settings, setup);
  }
  if (!isTextFormat(format)) return yield* prepareLines(chunks, setup);
  const prepared = await prepareText(chunks, { id, format }, source.settings, setup);
  if (prepared) yield [prepared];
}

/** Reads the first batch and returns all batches. Throws CliError `usage` when there is none. */
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
        "check the program that writes to stdin: it must write one JSON document per line, or rows in the format of --format",
        "use --allow-empty if you expect no documents",
      ],
    });
  }
  return (async function* () {
    if (first.value) yield first.value;
    yield* batches;
  })();
}

/** Wraps batches so that return() closes the source and does not wait for more of stdin. */
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
