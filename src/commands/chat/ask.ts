import type { ChatOptions } from "./options/chat-options.ts";
import type { ChatRenderer, RenderOptions } from "../../output/chat/renderer.ts";
import type { ChatParameters } from "../../api/chat/chat.ts";
import type { Client } from "../../api/client.ts";
import { urlOfFile } from "../../api/transport/made-file.ts";
import type { ChatSettings } from "../../config/values/schema.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { createTurn, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import { chatRenderers, type ChatFormat } from "../../output/chat/render.ts";
import { citedIds } from "../../output/chat/sources.ts";
import { requestWarnings, warningsOf, type Asked, type Known } from "../../output/chat/warnings.ts";
import type { Output } from "../../output/terminal/output.ts";
import { createSpinner } from "../../output/terminal/spinner.ts";
import type { Connected } from "../connect.ts";
import { selectionOf } from "./options/flag-rules.ts";
import { createRecorder, recorded, type Memory } from "./session/remember.ts";
import { renderModeOf, shownOf, switchOf } from "./options/options.ts";
import { sendQuestion, type Batch, type Question } from "./send.ts";
import { conclude, runTurn, type Ending, type AnswerSink } from "./turn.ts";
import { chatBody } from "../../api/chat/chat-body.ts";
import type { Dialect } from "../../api/dialects.ts";
import { type AskedFilters, isOwnSearch } from "../../output/chat/filter-warnings.ts";

/** Timeout of a look-up: the answer is complete, and nobody waits long for a warning. */
const lookUpTimeoutMs = 2000;

type Facts = Pick<Known, "tools" | "providers" | "anonymous">;

type LookUps = { [Name in keyof Facts]?: Promise<Facts[Name]> };

/**
 * Look-ups already made, by client and by view. A batch has one client; a conversation
 * has one view, and a client for each question.
 */
const cachedLookUps = new WeakMap<object, LookUps>();

/** Looks up once. A failed look-up returns null, and a later question may repeat it. */
function lookUp<Name extends keyof Facts>(
  started: LookUps,
  name: Name,
  ask: () => Promise<Facts[Name] | undefined>,
): () => Promise<Facts[Name]> {
  const find = async (): Promise<Facts[Name]> => {
    const found = (await ask().catch(() => null)) ?? null;
    if (found === null) delete started[name];
    return found as Facts[Name];
  };
  // Within one question, a look-up is not repeated.
  let asked: Promise<Facts[Name]> | undefined;
  return () => {
    if (asked === undefined) {
      asked = started[name] ?? find();
      started[name] = asked as LookUps[Name];
    }
    return asked;
  };
}

/** The model that answered; looked up only if the request names a provider without a version. */
async function modelOf(client: Client, asked: Asked, turn: Turn): Promise<string | null> {
  const { sessionId, messageId } = turn;
  if (!asked.model?.provider || asked.model.version !== undefined) return null;
  if (sessionId === null || messageId === null || !client.dialect.paths.session) return null;
  try {
    const { getSession } = await import("../../api/sessions.ts");
    const { messages } = await getSession(client, sessionId);
    const message = messages.find((each) => each.message_id === messageId);
    return message?.model_display_name ?? null;
  } catch {
    return null;
  }
}

/**
 * Looks up, during the question, which options the service may silently ignore.
 * Each look-up runs only if the request depends on it, and once for each client and
 * view. `begin` runs with the request, to end before the answer does. `checkCaller`
 * runs when the answer begins, so that it delays no first word.
 */
function createChecks(client: Client, asked: Asked, view: object) {
  const started = cachedLookUps.get(view) ?? cachedLookUps.get(client) ?? {};
  cachedLookUps.set(view, started).set(client, started);
  // Modules load only when needed: loading delays the first word of the answer.
  const lookUps = {
    tools: lookUp(started, "tools", async () =>
      (await import("../../api/tools.ts")).listTools(client, lookUpTimeoutMs),
    ),
    providers: lookUp(started, "providers", async () =>
      (await import("../../api/models.ts")).listProviders(client, lookUpTimeoutMs),
    ),
    anonymous: lookUp(started, "anonymous", async () => {
      if (client.dialect.paths.me === undefined) return undefined;
      return (await import("../../api/account.ts")).isAnonymous(client, lookUpTimeoutMs);
    }),
  };
  const namesTools = asked.forcedToolId !== undefined || asked.allowedToolIds.length > 0;
  return {
    begin(): void {
      if (namesTools) void lookUps.tools();
      if (asked.model !== null) void lookUps.providers();
    },
    checkCaller(): void {
      void lookUps.anonymous();
    },
    /** The results at the end. Never throws. */
    async known(turn: Turn): Promise<Known> {
      // Only this warning's hint needs the id of the search tool.
      const noSearch = asked.filters !== null && !turn.tools.some(isOwnSearch);
      const [tools, providers, anonymous, model] = await Promise.all([
        namesTools || noSearch ? lookUps.tools() : null,
        asked.model === null ? null : lookUps.providers(),
        lookUps.anonymous(),
        modelOf(client, asked, turn),
      ]);
      return { tools, providers, anonymous, model };
    },
  };
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

export type { Question } from "./send.ts";

const silentRenderer: ChatRenderer = { async show() {}, async finish() {} };

/** How answers are drawn. */
export interface View extends Omit<RenderOptions, "turn"> {
  format: ChatFormat;
  /** Local files of documents, by document id. Never throws. */
  findFiles?: ((ids: readonly string[]) => Promise<ReadonlyMap<string, string>>) | undefined;
}

/** The view from flags and configuration, without a service. Throws CliError `usage`. */
export function plainView(
  options: ChatOptions,
  settings: ChatSettings,
  output: Output,
  format: ChatFormat,
): View {
  return {
    format,
    live: output.isTerminal || (options.live ?? settings.live ?? false),
    sources: switchOf(options, "sources", settings.sources),
    select: selectionOf(options),
    render: renderModeOf(options, settings),
    ...shownOf(options.show, settings.show),
  };
}

/** The view from flags and configuration. Throws CliError `usage`. */
export function viewOf(
  context: Context,
  options: ChatOptions,
  connected: Connected & { output: Output },
  format: ChatFormat,
): View {
  const { client, output } = connected;
  return {
    ...plainView(options, connected.config.chat, output, format),
    fileUrl: (path) => urlOfFile(client, path),
    async findFiles(ids) {
      const { findFiles } = await import("./local-files.ts");
      return await findFiles(context, options, connected, ids);
    },
  };
}

function requestedModel({ modelProvider, modelVersion }: ChatParameters): string | null {
  return [modelProvider, modelVersion].filter(Boolean).join("/") || null;
}

/** Forwards the batches. Looks up the caller after the first batch, so that it delays no first word. */
async function* withCallerCheck(
  batches: AsyncIterable<Batch>,
  checks: ReturnType<typeof createChecks>,
): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    yield batch;
    checks.checkCaller();
  }
}

/** Warns where the answer differs from the request; for a failed answer, only of a wrong request. */
async function collectWarnings(
  checks: ReturnType<typeof createChecks>,
  asked: Asked,
  turn: Turn,
  failure: unknown,
): Promise<string[]> {
  if (failure !== undefined && turn.failure === null) return [];
  const known = await checks.known(turn);
  turn.model ??= known.model;
  return failure === undefined ? warningsOf(turn, asked, known) : requestWarnings(asked, known);
}

const isRefusal = (failure: unknown): boolean =>
  failure instanceof ApiError && failure.status !== undefined && failure.status < 500;

async function forget(context: Context, memory: Memory, sessionId: string | null): Promise<void> {
  if (memory === undefined || sessionId === null) return;
  const { forgetSession } = await import("./session/session-index.ts");
  forgetSession(context.env, memory, sessionId);
}

/**
 * Asks one question and draws its answer, for one-shot chat and the conversation.
 * The context's signal stops the answer; it must be the client's own signal.
 * An error of the service is the ending's `failure`; throws only if the output fails.
 * Warnings are in the outcome and not yet written. `sink` gets each batch before it
 * is drawn. The index of `memory` records the question once its session is known.
 * Format `silent` draws nothing: everything is in the ending.
 */
export async function ask(
  context: Context,
  { output, client, memory }: { output: Output; client: Client; memory: Memory },
  question: Question,
  shown: Omit<View, "format"> & { format: ChatFormat | "silent" },
  sink?: AnswerSink,
): Promise<Ending> {
  const { format, findFiles, ...view } = shown;
  const { parameters } = question;
  const turn = createTurn();
  turn.sessionId = parameters.sessionId ?? null;
  const spinner = createSpinner(output);
  const isSilent = format === "silent";
  const renderer = isSilent
    ? silentRenderer
    : chatRenderers[format](output, spinner, { turn, ...view });
  if (!isSilent) spinner.start("waiting for the answer");
  const asked = askedOf(parameters, client.dialect);
  const checks = createChecks(client, asked, shown);
  checks.begin();
  if (question.whole) checks.checkCaller();
  const unremembered: string[] = [];
  const record = createRecorder(context, output, memory, parameters.message, unremembered);
  const batches = recorded(
    sendQuestion(client, question, turn, () => record(turn)),
    turn,
    record,
  );
  const end = await runTurn(context, withCallerCheck(batches, checks), { turn, renderer, sink });
  // The session that was made for the question is empty: `last` must not find it.
  if (question.whole && parameters.sessionId === undefined && isRefusal(end.failure)) {
    await forget(context, memory, turn.sessionId);
    turn.sessionId = null;
  }
  const isLost = end.failure instanceof CliError && end.failure.exit === "incomplete";
  if (isLost) await record(turn);
  const cited = format === "packets" ? [] : turnsOf(turn).flatMap(citedIds);
  if (findFiles && cited.length > 0) {
    const files = await findFiles(cited);
    for (const each of turnsOf(turn)) each.localFiles = files;
  }
  const found = await collectWarnings(checks, asked, turn, end.failure);
  const warnings = [...unremembered, ...found];
  return await conclude(context, client, renderer, {
    ...end,
    turn,
    sink,
    warnings,
    requestedModel: requestedModel(parameters),
  });
}

/** Writes the result of a question that was not sent, in the formats that always end with a result. */
export async function writeUnasked(
  context: Context,
  output: Output,
  format: ChatFormat,
  failure: unknown,
): Promise<void> {
  if (format === "text" || format === "packets") return;
  const turn = createTurn();
  const plain = { turn, live: false, sources: false, all: false, show: new Set<never>() };
  const renderer = chatRenderers[format](output, createSpinner(output), plain);
  const timings = { firstTextMs: null, totalMs: 0 };
  const end = { failure, outputFailure: undefined, timings, turn };
  await conclude(context, undefined, renderer, { ...end, warnings: [], requestedModel: null });
}
