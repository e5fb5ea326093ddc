import type { Caller } from "../store/access.ts";
import {
  type ChatRequest,
  attachmentsOf,
  filtersOf,
  invalid,
  modelLabel,
  modelTurnOf,
  placeOf,
} from "./request.ts";
import { runModelTurn } from "./model/turn.ts";
import { failure, type Line, listTool, searchTool } from "./packets.ts";
import type { Run } from "./runs.ts";
import { searchPassages } from "../store/index/search.ts";
import type { Session } from "../store/sessions.ts";
import { runTurn, type Turn } from "./turn.ts";
import type { Service } from "../service.ts";

/** A message and its sender. */
export interface Question {
  request: ChatRequest;
  caller: Caller;
}

/** The allowed tools. Unknown ids are ignored, as in the service. */
function toolsOf({ allowed_tool_ids: allowed }: ChatRequest): number[] {
  return [searchTool.id, listTool.id].filter((id) => allowed?.includes(id) ?? true);
}

/** Prepares the input of a turn, except its run, before anything is stored. */
function prepare(service: Service, { request, caller }: Question, session: Session) {
  const attachments = attachmentsOf(service, request);
  const asked = filtersOf(service, request, caller);
  const mainline = service.sessions.mainline(session.id);
  const { parent, again } = placeOf(mainline, request.parent_message_id);
  const at = mainline.findIndex(({ id }) => id === parent);
  return {
    attachments,
    filters: { ...asked, view: service.viewOf(caller) },
    parent,
    again,
    before: mainline.slice(0, again ? at : at + 1),
  };
}

function turnOf(
  service: Service,
  request: ChatRequest,
  prepared: ReturnType<typeof prepare>,
  run: Run,
  finish: Turn["finish"],
): Turn {
  const { documents, database, clock } = service;
  const newest = () =>
    documents.list({ newestFirst: true, limit: 10 }).map(({ id, name }) => ({ id, name }));
  return {
    question: prepared.again?.text ?? request.message,
    filters: prepared.filters,
    search: toolsOf(request).includes(searchTool.id)
      ? (terms, active) => searchPassages(database, terms, active, 60)
      : undefined,
    listDocuments: request.forced_tool_id === listTool.id ? newest : undefined,
    attachments: prepared.attachments,
    includeCitations: request.include_citations,
    deepResearch: request.deep_research,
    clock,
    tokenDelayMs: request.stream ? service.tokenDelayMs : 0,
    stopped: run.stopped,
    ending: run.ending,
    finish,
  };
}

/** One request per requested model; usually one. */
function requestsOf(request: ChatRequest): ChatRequest[] {
  const { llm_overrides: overrides } = request;
  return overrides.length > 1
    ? overrides.map((llm_override) => ({ ...request, llm_override }))
    : [request];
}

function* idLines(userId: number, ids: number[], labels: string[]): Generator<Line> {
  const [first] = ids;
  if (ids.length === 1) yield { user_message_id: userId, reserved_assistant_message_id: first! };
  else {
    const responses = ids.map((message_id, at) => ({ message_id, model_name: labels[at]! }));
    yield { user_message_id: userId, responses };
  }
}

function ofModel(line: Line, index: number): Line {
  if ("error" in line)
    return { ...line, details: { ...(line.details as object), model_index: index } };
  if (!("placement" in line)) return line;
  // A stop by the user belongs to no model: observed-service.md 2.3.
  const model_index = line.placement.model_index === null ? null : index;
  return { ...line, placement: { ...line.placement, model_index } };
}

/**
 * Merges the lines of several turns round-robin, each line with the index of its model.
 * A failed turn ends alone; the others continue to their own `stop`.
 */
async function* mergeTurns(turns: readonly AsyncGenerator<Line>[]): AsyncGenerator<Line> {
  let open = turns.map((lines, index) => ({ lines, index }));
  while (open.length > 0) {
    const left = [];
    for (const turn of open) {
      const next = await turn.lines.next();
      if (next.done) continue;
      yield ofModel(next.value, turn.index);
      left.push(turn);
    }
    open = left;
  }
}

/**
 * Stores the question and yields the lines of its answer, or of one answer per model,
 * starting with the line of ids. Throws a SetupFailure before anything is stored.
 */
export async function* answer(
  service: Service,
  question: Question,
  session: Session,
  run: Run,
): AsyncGenerator<Line> {
  const { sessions, runs } = service;
  const { request } = question;
  const prepared = prepare(service, question, session);
  const requests = requestsOf(request);
  if (requests.length > 1 && request.deep_research) {
    throw invalid("Deep Research cannot be combined with several models");
  }
  const labels = requests.map((each) => modelLabel(service, each));
  const asked = prepared.again
    ? undefined
    : { text: request.message, files: request.file_descriptors };
  const { userId, answerIds } = sessions.begin(session.id, prepared.parent, asked, labels);
  yield* idLines(userId, answerIds, labels);
  if (request.forced_tool_id !== undefined && !toolsOf(request).includes(request.forced_tool_id)) {
    const error = `Forced tool ${request.forced_tool_id} not found in tools`;
    for (const id of answerIds) {
      sessions.finish(id, { text: "", documents: [], citations: {}, error });
    }
    yield failure("UNKNOWN_ERROR", error, true);
    return;
  }
  const turns = requests.map((each, at) => {
    const finish: Turn["finish"] = (outcome) => sessions.finish(answerIds[at]!, outcome);
    const turn = turnOf(service, each, prepared, run, finish);
    const model = modelTurnOf(service, each, prepared.before);
    return model ? runModelTurn(turn, model) : runTurn(turn);
  });
  runs.enter(session.id, run);
  try {
    yield* turns.length === 1 ? turns[0]! : mergeTurns(turns);
  } finally {
    runs.leave(session.id, run);
  }
}
