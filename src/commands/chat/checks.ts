import type { ChatParameters } from "../../api/chat/chat.ts";
import { chatBody } from "../../api/chat/chat-body.ts";
import type { Client } from "../../api/client.ts";
import type { Dialect } from "../../api/dialects.ts";
import { hasText, type Turn } from "../../output/chat/turn/answer.ts";
import {
  isOwnSearch,
  requestWarnings,
  warningsOf,
  type Asked,
  type AskedFilters,
  type Known,
} from "../../output/chat/warnings.ts";

/** Timeout of a look-up: the answer is complete, and nobody waits long for a warning. */
const lookUpTimeoutMs = 2000;

type FactName = "tools" | "providers" | "anonymous";

/** Facts about the service that are looked up already, for all questions of one view. */
export type Facts = { [Name in FactName]?: Promise<Known[Name]> };

/** Looks up once. A failed look-up is null, and a later question repeats it. */
function lookUp<Name extends FactName>(
  facts: Facts,
  name: Name,
  ask: () => Promise<Known[Name] | undefined>,
): Promise<Known[Name]> {
  const find = async (): Promise<Known[Name]> => {
    const found = (await ask().catch(() => null)) ?? null;
    if (found === null) delete facts[name];
    return found as Known[Name];
  };
  const asked = (facts[name] as Promise<Known[Name]> | undefined) ?? find();
  facts[name] = asked as Facts[Name];
  return asked;
}

/** The model that answered; looked up only if the request names a provider without a version. */
async function modelOf(client: Client, asked: Asked, turn: Turn): Promise<string | null> {
  const { sessionId, messageId } = turn;
  if (!asked.model?.provider || asked.model.version !== undefined) return null;
  if (sessionId === null || messageId === null || !client.dialect.paths.session) return null;
  try {
    const { getSession } = await import("../../api/sessions.ts");
    const { messages } = await getSession(client, sessionId, lookUpTimeoutMs);
    const message = messages.find((each) => each.message_id === messageId);
    return message?.model_display_name ?? null;
  } catch {
    return null;
  }
}

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
function askedOf(parameters: ChatParameters, dialect: Dialect): Asked {
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

/** Modules load only when needed: loading delays the first word of the answer. */
function lookUpsOf(client: Client, facts: Facts) {
  return {
    tools: () =>
      lookUp(facts, "tools", async () =>
        (await import("../../api/tools.ts")).listTools(client, lookUpTimeoutMs),
      ),
    providers: () =>
      lookUp(facts, "providers", async () =>
        (await import("../../api/models.ts")).listProviders(client, lookUpTimeoutMs),
      ),
    anonymous: () =>
      lookUp(facts, "anonymous", async () => {
        if (client.dialect.paths.me === undefined) return undefined;
        return (await import("../../api/account.ts")).isAnonymous(client, lookUpTimeoutMs);
      }),
  };
}

/**
 * Looks up, during the question, which options the service may silently ignore: with the
 * request what it depends on, and the caller only when the answer begins, so that it delays no
 * first word.
 */
export function createChecks(client: Client, parameters: ChatParameters, found: Facts) {
  const asked = askedOf(parameters, client.dialect);
  const lookUps = lookUpsOf(client, found);
  const namesTools = asked.forcedToolId !== undefined || asked.allowedToolIds.length > 0;
  let tools = namesTools ? lookUps.tools() : undefined;
  const providers = asked.model === null ? null : lookUps.providers();
  let anonymous: Promise<boolean | null> | undefined;
  const checkCaller = (): void => void (anonymous ??= lookUps.anonymous());
  /** Only the warning that no search ran needs the id of the search tool. */
  const lacksSearch = (turn: Turn): boolean =>
    asked.filters !== null && !turn.tools.some(isOwnSearch);
  return {
    checkCaller,
    /** Starts the look-ups that the answer so far makes likely. Call it after each piece. */
    follow(turn: Turn): void {
      checkCaller();
      if (hasText(turn.answer) && lacksSearch(turn)) tools ??= lookUps.tools();
    },
    /** Warns where the answer differs from the request; for a failed answer, only of a wrong request. Never throws. */
    async warnings(turn: Turn, failure: unknown): Promise<string[]> {
      if (failure !== undefined && turn.failure === null) return [];
      checkCaller();
      const [known, listed, isAnonymous, model] = await Promise.all([
        tools ?? (lacksSearch(turn) ? lookUps.tools() : null),
        providers,
        anonymous ?? null,
        modelOf(client, asked, turn),
      ]);
      const facts: Known = { tools: known, providers: listed, anonymous: isAnonymous, model };
      turn.model ??= model;
      return failure === undefined ? warningsOf(turn, asked, facts) : requestWarnings(asked, facts);
    },
  };
}
