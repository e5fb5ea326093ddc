/**
 * What the service sends and takes, as zod schemas. Field names are the wire's.
 * Loose on purpose: unknown members pass, because the service grows by release.
 * Sources: service-interface.md section 2, observed-service.md sections 1, 2, 4, 5.
 */
import * as z from "zod/mini";

const text = z.string();
const optionalText = z.optional(z.nullable(z.string()));
const optionalInteger = z.optional(z.nullable(z.int()));
const anyObject = z.record(z.string(), z.unknown());

// --- connectors ---

export const Connector = z.looseObject({
  id: z.int(),
  name: optionalText,
  source: text,
  input_type: optionalText,
  connector_specific_config: z.optional(z.nullable(anyObject)),
  credential_ids: z.optional(z.nullable(z.array(z.int()))),
  time_created: optionalText,
  time_updated: optionalText,
  refresh_freq: optionalInteger,
  prune_freq: optionalInteger,
  indexing_start: optionalText,
});

export const Credential = z.looseObject({
  id: z.int(),
  name: optionalText,
  source: optionalText,
  credential_json: z.optional(z.nullable(anyObject)),
  admin_public: z.optional(z.nullable(z.boolean())),
  curator_public: z.optional(z.nullable(z.boolean())),
  user_id: optionalText,
  user_email: optionalText,
  groups: z.optional(z.nullable(z.array(z.int()))),
  time_created: optionalText,
  time_updated: optionalText,
});

/** One element of the connector status listing. */
export const ConnectorStatus = z.looseObject({
  cc_pair_id: z.int(),
  name: optionalText,
  connector: Connector,
  credential: Credential,
  access_type: optionalText,
  groups: z.optional(z.nullable(z.array(z.int()))),
});
export type ConnectorStatus = z.infer<typeof ConnectorStatus>;
export const ConnectorStatusList = z.array(ConnectorStatus);

// --- ingestion: what we send is a plain type, what comes back is checked ---

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
  primary_owners?: Owner[];
  secondary_owners?: Owner[];
}

export interface IngestionRequest {
  document: IngestionDocument;
  cc_pair_id: number;
}

export const IngestionResult = z.looseObject({
  already_existed: z.boolean(),
  document_id: optionalText,
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
  /** Written as the dialect wants it: an object or a list of `{tag_key, tag_value}`. */
  tags?: Record<string, string> | { tag_key: string; tag_value: string }[];
}
