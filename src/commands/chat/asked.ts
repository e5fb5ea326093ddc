import { chatBody } from "../../api/chat/chat-body.ts";
import type { ChatParameters } from "../../api/chat/chat.ts";
import type { Dialect } from "../../api/dialects.ts";
import type { AskedFilters } from "../../output/chat/filter-warnings.ts";
import type { Asked } from "../../output/chat/warnings.ts";

type Members = Record<string, unknown>;

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Members)
    : {};
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function integersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((each) => Number.isInteger(each)) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Tags in either of their forms: an object, or a list of `{tag_key, tag_value}`. */
function tagsOf(value: unknown): [string, string][] {
  const pairs: [unknown, unknown][] = Array.isArray(value)
    ? value.map(membersOf).map((tag) => [tag["tag_key"], tag["tag_value"]])
    : Object.entries(membersOf(value)).flatMap(([key, each]) =>
        [each].flat().map((one): [unknown, unknown] => [key, one]),
      );
  return pairs.filter((pair): pair is [string, string] =>
    pair.every((each) => typeof each === "string"),
  );
}

function filtersOf(body: Members, member: string): AskedFilters | null {
  const filters = membersOf(body[member]);
  const range = membersOf(filters["updated_at_range"]);
  const asked = {
    sources: textsOf(filters["source_type"]),
    documentSets: textsOf(filters["document_set"]),
    tags: tagsOf(filters["tags"]),
    since: textOf(range["start"]) ?? textOf(filters["time_cutoff"]) ?? null,
  };
  const { sources, documentSets, tags, since } = asked;
  if (since === null && [sources, documentSets, tags].every((list) => list.length === 0))
    return null;
  const project = membersOf(body["chat_session_info"])["project_id"];
  return { ...asked, member, inProject: typeof project === "number" };
}

const filterMembers = ["search_filters", "internal_search_filters"] as const;

/**
 * Request options that the service may silently ignore. Read from the request body,
 * so that members of `--payload` count too.
 */
export function askedOf(parameters: ChatParameters, dialect: Dialect): Asked {
  const body = chatBody(parameters, dialect, true);
  const { filtersMember: instead } = dialect;
  const stray = filterMembers.find((member) => member !== instead && filtersOf(body, member));
  const model = membersOf(body["llm_override"]);
  const provider = textOf(model["model_provider"]);
  const version = textOf(model["model_version"]);
  const forced = integersOf([body["forced_tool_id"]])[0];
  return {
    filters: filtersOf(body, instead),
    strayFilters: stray === undefined ? null : { member: stray, instead },
    // 0 counts as "not forced": observed-service.md 1.1.
    forcedToolId: forced === 0 ? undefined : forced,
    allowedToolIds: integersOf(body["allowed_tool_ids"]),
    model: provider === undefined && version === undefined ? null : { provider, version },
    deepResearch: body["deep_research"] === true,
  };
}
