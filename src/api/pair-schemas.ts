/** State of the pairs and their runs: observed-service.md 4.2 and 11.4. */
import { catch as or } from "zod/mini";
import * as z from "zod/mini";
import { lenientFlag, lenientInteger, lenientText } from "./schemas.ts";

const StatusRecord = z.looseObject({
  cc_pair_id: or(z.nullable(z.int()), null),
  name: lenientText,
  source: lenientText,
  access_type: lenientText,
  cc_pair_status: lenientText,
  in_progress: lenientFlag,
  in_repeated_error_state: lenientFlag,
  last_status: lenientText,
  last_success: lenientText,
  docs_indexed: lenientInteger,
});

/** The state of one pair. A missing member, or one of the wrong type, is null. */
export type PairStatus = z.infer<typeof StatusRecord>;
const unreadable: PairStatus = { cc_pair_id: null };

/** A source that is asked at each question, and not indexed: it is no pair. */
const Federated = z.looseObject({ id: z.int(), cc_pair_id: z.optional(z.undefined()) });

/** The listing: a group for each source. */
export const PairStatusGroups = z.array(
  z.looseObject({
    indexing_statuses: z.array(z.union([Federated, or(StatusRecord, unreadable)])),
  }),
);

export const PairDetail = z.looseObject({
  id: z.int(),
  name: lenientText,
  status: lenientText,
  access_type: lenientText,
  indexing: lenientFlag,
  in_repeated_error_state: lenientFlag,
  num_docs_indexed: lenientInteger,
  last_indexed: lenientText,
  last_index_attempt_status: lenientText,
  connector: or(z.nullable(z.looseObject({ source: lenientText })), null),
});

export const AttemptPage = z.looseObject({
  items: z.array(z.looseObject({ time_started: lenientText, time_updated: lenientText })),
});

const PairErrorRecord = z.looseObject({
  id: lenientInteger,
  document_id: lenientText,
  document_link: lenientText,
  entity_id: lenientText,
  failure_message: lenientText,
  is_resolved: lenientFlag,
  time_created: lenientText,
});

/** One document that a run could not index. */
export type PairError = z.infer<typeof PairErrorRecord>;

export const PairErrorPage = z.looseObject({
  items: z.array(or(PairErrorRecord, {})),
  total_items: z.int(),
});

export const SyncList = z.array(
  z.looseObject({ last_synced: lenientText, last_modified: lenientText }),
);
