/**
 * Responses of the service as zod schemas, and requests as types. Field names are the
 * wire's. Loose on purpose: unknown members pass, because each release adds some.
 * Sources: service-interface.md section 2, observed-service.md sections 1, 2, 4, 5.
 */
// Imported by name: reading it from `z` at run time would bundle all of zod. Renamed
// because the linter confuses `catch` with the method of a promise.
import { catch as or } from "zod/mini";
import * as z from "zod/mini";

const text = z.string();
const optionalText = z.optional(z.nullable(z.string()));
const anyObject = z.record(z.string(), z.unknown());

// --- connectors ---

/** A member of the wrong type becomes null: one malformed record must not hide the others. */
const lenient = <Schema extends z.core.SomeType>(schema: Schema) =>
  or(z.optional(z.nullable(schema)), null);

// Created once each: every schema costs start-up time.
export const lenientText = lenient(text);
export const lenientInteger = lenient(z.int());
const lenientIntegers = lenient(z.array(z.int()));
export const lenientFlag = lenient(z.boolean());
const lenientObject = lenient(anyObject);

const Connector = z.looseObject({
  id: lenientInteger,
  name: lenientText,
  source: lenientText,
  input_type: lenientText,
  connector_specific_config: lenientObject,
  credential_ids: lenientIntegers,
  time_created: lenientText,
  time_updated: lenientText,
  refresh_freq: lenientInteger,
  prune_freq: lenientInteger,
  indexing_start: lenientText,
});

const Credential = z.looseObject({
  id: lenientInteger,
  name: lenientText,
  source: lenientText,
  credential_json: lenientObject,
  admin_public: lenientFlag,
  curator_public: lenientFlag,
  user_id: lenientText,
  user_email: lenientText,
  groups: lenientIntegers,
  time_created: lenientText,
  time_updated: lenientText,
});

const StatusRecord = z.looseObject({
  cc_pair_id: or(z.nullable(z.int()), null),
  name: lenientText,
  connector: lenient(Connector),
  credential: lenient(Credential),
  access_type: lenientText,
  groups: lenientIntegers,
});

/** One element of the connector status listing. A missing member, or one of the wrong type, is null. */
export type ConnectorStatus = z.infer<typeof StatusRecord>;
const unreadable: ConnectorStatus = { cc_pair_id: null };

/** The listing. Some records may be malformed, but a list without any id is another response. */
export const ConnectorStatusList = z.array(or(StatusRecord, unreadable)).check(
  z.refine((records) => records.length === 0 || records.some((each) => each.cc_pair_id !== null), {
    error: "expected records with a cc_pair_id",
  }),
);

/** A record with a readable id; only such a record can be a target. */
export type IdentifiedConnector = ConnectorStatus & { cc_pair_id: number };

/** A complete record, as in service-interface.md 2.1. */
export type PairRecord = IdentifiedConnector & {
  connector: NonNullable<ConnectorStatus["connector"]> & { id: number; source: string };
  credential: NonNullable<ConnectorStatus["credential"]> & { id: number };
};

// --- ingestion: requests are plain types, responses are checked ---

export interface Owner {
  display_name?: string;
  first_name?: string;
  middle_initial?: string | null;
  last_name?: string;
  email?: string;
}

/** Text and image never share a section: observed-service.md 3.1. */
export interface Section {
  text?: string;
  link?: string;
  image_file_id?: string;
}

export interface IngestionDocument {
  id: string;
  semantic_identifier: string;
  title?: string;
  sections: Section[];
  source: string;
  metadata: Record<string, string | string[]>;
  /** ISO 8601, UTC, with `Z`. */
  doc_updated_at?: string;
  /** The same; only where the dialect `storesCreation`. */
  doc_created_at?: string;
  primary_owners?: Owner[];
  secondary_owners?: Owner[];
}

export interface IngestionRequest {
  document: IngestionDocument;
  cc_pair_id: number;
}

/** Characters of the id that the service returns: it is stored with each document, and shown. */
const longestStoredId = 100_000;

export const IngestionResult = z.looseObject({
  already_existed: z.boolean(),
  document_id: z.optional(
    z.nullable(
      z.string().check(z.maxLength(longestStoredId, "an id of this length cannot be stored")),
    ),
  ),
});
export type IngestionResult = z.infer<typeof IngestionResult>;

// --- tools and files ---

export const Tool = z.looseObject({
  id: z.int(),
  name: text,
  description: optionalText,
  display_name: optionalText,
  in_code_tool_id: optionalText,
  enabled: z.optional(z.nullable(z.boolean())),
});
export type Tool = z.infer<typeof Tool>;
export const ToolList = z.array(Tool);

export const UserFile = z.looseObject({
  id: text,
  name: optionalText,
  file_id: text,
  status: optionalText,
  chat_file_type: optionalText,
});
export type UserFile = z.infer<typeof UserFile>;

export const FileUpload = z.looseObject({
  user_files: z.array(UserFile),
  rejected_files: z.optional(
    z.nullable(z.array(z.looseObject({ file_name: text, reason: optionalText }))),
  ),
});
export type FileUpload = z.infer<typeof FileUpload>;

// --- chat request: plain types, members exactly as on the wire ---

export interface LlmOverride {
  model_provider?: string;
  model_version?: string;
  temperature?: number;
}

export interface FileDescriptor {
  id: string;
  type: string;
  name?: string;
  user_file_id?: string;
}

export interface SearchFilters {
  source_type?: string[];
  document_set?: string[];
  /** `YYYY-MM-DDTHH:MM:SSZ` */
  time_cutoff?: string;
  /** In the form of the dialect: an object or a list of `{tag_key, tag_value}`. */
  tags?: Record<string, string> | { tag_key: string; tag_value: string }[];
}
