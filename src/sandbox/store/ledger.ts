import type { IngestionDocument, IngestionRequest } from "../../api/schemas.ts";

/** `full` records everything, `off` only counts. */
export type LedgerMode = "full" | "off";

export interface LedgerRequest {
  method: string;
  /** Path and query as sent. */
  path: string;
  /** As sent, without the credentials. */
  headers: Record<string, string>;
  /** Status of the response; 0 before the response, and after a reset. */
  status: number;
  /** Calls of a language model that the real service makes for it; absent for none. */
  modelCalls?: number;
  /** Body of a stored ingestion, whatever the response was. Only in mode `full`. */
  stored?: IngestionRequest;
}

/** Record of all requests: the oracle of tests about lost and duplicated documents. */
export interface Ledger {
  /** Bodies of accepted ingestions in order, by id as the client sent it ("" without id). */
  documents: Map<string, IngestionRequest[]>;
  /** Number of ingestion requests by id, including those refused by a fault or validation. */
  attempts: Map<string, number>;
  /** Parsed bodies of all chat messages, including refused messages. */
  chats: Record<string, unknown>[];
  requests: LedgerRequest[];
  requestCount: number;
  /** Calls of a language model for searches, over all requests. */
  modelCalls: number;
  maxInFlight: number;
}

export interface LedgerWriter {
  ledger: Ledger;
  /** Counts a request; the caller sets the status of the response later. */
  request(method: string, path: string, headers: NodeJS.Dict<string | string[]>): LedgerRequest;
  attempted(id: string): void;
  accepted(request: IngestionRequest, entry: LedgerRequest): void;
  asked(body: unknown): void;
  /** Counts the model calls of a search. */
  spent(modelCalls: number, entry: LedgerRequest): void;
}

const credentialHeader = /authorization|cookie/i;

/** Creates the record. `onDocument` is called with each accepted document, in every mode. */
export function createLedger(
  mode: LedgerMode,
  onDocument?: (document: IngestionDocument) => void,
): LedgerWriter {
  const ledger: Ledger = {
    documents: new Map(),
    attempts: new Map(),
    chats: [],
    requests: [],
    requestCount: 0,
    modelCalls: 0,
    maxInFlight: 0,
  };
  return {
    ledger,
    request(method, path, headers) {
      ledger.requestCount += 1;
      const entry: LedgerRequest = { method, path, headers: {}, status: 0 };
      if (mode !== "full") return entry;
      for (const [name, value] of Object.entries(headers)) {
        if (!credentialHeader.test(name)) entry.headers[name] = String(value);
      }
      ledger.requests.push(entry);
      return entry;
    },
    attempted(id) {
      if (mode !== "off") ledger.attempts.set(id, (ledger.attempts.get(id) ?? 0) + 1);
    },
    accepted(request, entry) {
      onDocument?.(request.document);
      if (mode !== "full") return;
      const id = request.document.id ?? "";
      const known = ledger.documents.get(id);
      if (known) known.push(request);
      else ledger.documents.set(id, [request]);
      entry.stored = request;
    },
    spent(modelCalls, entry) {
      ledger.modelCalls += modelCalls;
      if (modelCalls > 0) entry.modelCalls = modelCalls;
    },
    asked(body) {
      if (mode === "full") ledger.chats.push(body as Record<string, unknown>);
    },
  };
}
