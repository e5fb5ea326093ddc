import { CliError } from "../../errors.ts";
import type { Dialect } from "../dialects.ts";
import type { FileDescriptor, LlmOverride, SearchFilters } from "../schemas.ts";

/** Which documents to search, independent of the dialect. */
export interface FilterParameters {
  sourceTypes?: string[] | undefined;
  documentSets?: string[] | undefined;
  tags?: [string, string][] | undefined;
  /** `YYYY-MM-DDTHH:MM:SSZ` */
  timeCutoff?: string | undefined;
}

/** A question, independent of the dialect. Absent or empty members are not sent. */
export interface ChatParameters extends FilterParameters {
  message: string;
  /** Continues this session. It keeps its Agent and Project; the ids below are not sent. */
  sessionId?: string;
  /** Id of an assistant's message. */
  parentMessageId?: number;
  /** Asks from the root of the session's tree, without its history, where the dialect can. */
  fromRoot?: boolean;
  personaId?: number;
  projectId?: number;
  modelProvider?: string;
  modelVersion?: string;
  temperature?: number;
  /** An empty list disables all Actions, absent allows all. */
  allowedToolIds?: number[];
  forcedToolId?: number;
  fileDescriptors?: FileDescriptor[];
  deepResearch?: boolean;
  /** Further members of the request; they override all others. */
  extra?: Record<string, unknown>;
}

/**
 * The filters in the form of the dialect; undefined without any. Throws CliError `usage` for two
 * values of one tag where the dialect takes one.
 */
export function searchFilters(
  parameters: FilterParameters,
  dialect: Dialect,
): SearchFilters | undefined {
  const { sourceTypes, documentSets, tags, timeCutoff } = parameters;
  const filters: SearchFilters = {};
  // An empty list does not mean "no filter": it replaces the filter of the Agent.
  if (sourceTypes?.length) filters.source_type = sourceTypes;
  if (documentSets?.length) filters.document_set = documentSets;
  if (timeCutoff) filters.time_cutoff = timeCutoff;
  if (tags?.length) {
    const repeated = tags.find(
      ([key], index) => tags.findIndex(([other]) => other === key) < index,
    );
    if (repeated && !dialect.repeatsTagKeys) {
      throw new CliError(
        "usage",
        `the tag ${repeated[0]} has two values, but this service accepts one value per tag`,
        {
          hints: ["ask once for each value, or use --dialect onyx if the service is an onyx one"],
        },
      );
    }
    filters.tags = dialect.writeTags(tags);
  }
  return Object.keys(filters).length > 0 ? filters : undefined;
}

function modelOf({
  modelProvider,
  modelVersion,
  temperature,
}: ChatParameters): LlmOverride | undefined {
  const model: LlmOverride = {};
  if (modelProvider) model.model_provider = modelProvider;
  if (modelVersion) model.model_version = modelVersion;
  if (temperature !== undefined) model.temperature = temperature;
  return Object.keys(model).length > 0 ? model : undefined;
}

/**
 * The body of a chat request. Sends null only on request: a null parent drops the
 * history, and the service refuses a null session with settings (observed-service.md
 * 1.6, 1.7). Throws CliError `usage` for a parameter that the dialect cannot express.
 */
export function chatBody(
  parameters: ChatParameters,
  dialect: Dialect,
  stream: boolean,
): Record<string, unknown> {
  const { sessionId, personaId, projectId, fileDescriptors } = parameters;
  const body: Record<string, unknown> = { message: parameters.message };
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) body[name] = value;
  };
  if (sessionId) body["chat_session_id"] = sessionId;
  else if (personaId !== undefined || projectId !== undefined) {
    body["chat_session_info"] = {
      ...(personaId === undefined ? {} : { persona_id: personaId }),
      ...(projectId === undefined ? {} : { project_id: projectId }),
    };
  }
  if (parameters.fromRoot && dialect.startsAtRoot) body["parent_message_id"] = null;
  else set("parent_message_id", parameters.parentMessageId);
  set("llm_override", modelOf(parameters));
  set("allowed_tool_ids", parameters.allowedToolIds);
  set("forced_tool_id", parameters.forcedToolId);
  set("file_descriptors", fileDescriptors?.length ? fileDescriptors : undefined);
  set(dialect.filtersMember, searchFilters(parameters, dialect));
  set("deep_research", parameters.deepResearch === true ? true : undefined);
  return { ...body, ...parameters.extra, stream };
}
