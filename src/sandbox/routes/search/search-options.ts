import type { Database } from "../../../database.ts";
import type { Call } from "../../http/call.ts";
import type { ChunkStore } from "../../store/index/chunks.ts";
import type { DocumentSets } from "../../store/pairs/document-sets.ts";
import type { LedgerWriter } from "../../store/ledger.ts";
import type { View } from "../../store/index/search.ts";

/** What the searches without chat need. */
export interface SearchOptions {
  database: Database;
  chunks: ChunkStore;
  ledger: LedgerWriter;
  documentSets: DocumentSets;
  /** Different sources of the pairs. */
  countSources(): number;
  /** What the caller of a request can see. */
  viewOf(call: Call): View;
  /** Names of the model providers. */
  providers: readonly string[];
}
