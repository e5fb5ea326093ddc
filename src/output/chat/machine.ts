import type { TurnEvent } from "./turn/chat-events.ts";
import type { ChatRenderer, Outcome, RenderOptions, Selection } from "./renderer.ts";
import type { SearchDoc } from "../../api/chat-schemas.ts";
import { writeJq } from "../formats/formats.ts";
import type { Output } from "../terminal/output.ts";
import { checkNames, parseFields, pick } from "../formats/select.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { createTurn, turnsOf, type Turn } from "./turn/answer.ts";
import { listSources } from "./sources.ts";

/** Version of the chat events and of the result; increased by a breaking change. */
const version = 1;

function documentRecord(document: SearchDoc) {
  return {
    documentId: document.document_id,
    title: document.semantic_identifier ?? null,
    link: document.link ?? null,
    sourceType: document.source_type ?? null,
    updatedAt: document.updated_at ?? null,
    blurb: document.blurb ?? null,
  };
}

function citationRecords(turn: Turn) {
  return listSources(turn)
    .cited.flatMap((source) =>
      source.numbers.map((number) => ({
        number,
        documentId: turn.citations.get(number) ?? source.documentId,
        title: source.title,
        link: source.link,
        file: source.file,
        mismatch: source.mismatch,
      })),
    )
    .toSorted((a, b) => a.number - b.number);
}

/** The content of an answer, without ids, status and error. */
function replyRecord(turn: Turn) {
  return {
    answer: turn.answer,
    citations: citationRecords(turn),
    documents: [...turn.documents.values()].map(documentRecord),
    toolCalls: turn.tools,
    reasoning: turn.reasoning,
    interim: turn.interim,
  };
}

/** The answer of one of several models. */
function answerRecord(turn: Turn) {
  const { failure } = turn;
  return {
    model: turn.model,
    messageId: turn.messageId,
    ...replyRecord(turn),
    stopReason: turn.stopReason,
    error: failure === null ? null : { code: failure.code, message: failure.message },
  };
}

/** The object of `--output json`, and the last line of `--output ndjson`. */
function resultRecord(turn: Turn, outcome: Outcome) {
  return {
    status: outcome.status,
    ...replyRecord(turn),
    sessionId: turn.sessionId,
    userMessageId: turn.userMessageId,
    messageId: turn.messageId,
    model: { requested: outcome.requestedModel, reported: turn.model },
    stopReason: turn.stopReason,
    filtersApplied: turn.filtersApplied,
    timings: outcome.timings,
    warnings: outcome.warnings,
    error: outcome.error,
    ...(turn.others.length === 0 ? {} : { answers: turnsOf(turn).map(answerRecord) }),
  };
}

/** Checks the names of --fields before any request. Throws CliError `usage`. */
export function checkSelection({ fields }: Selection): void {
  if (fields === undefined) return;
  const empty: Outcome = {
    status: "ok",
    error: null,
    requestedModel: null,
    warnings: [],
    timings: { firstTextMs: null, totalMs: 0 },
  };
  const record = { version, ...resultRecord(createTurn(), empty), answers: [] };
  // Only top-level names: nested members depend on the answer.
  const names = parseFields(fields).map((name) => name.split(".")[0] ?? "");
  checkNames(names, [], [record]);
}

/** Writes one object at the end, also after a failure. */
export function createJsonRenderer(
  output: Output,
  spinner: Spinner,
  { turn, select }: RenderOptions,
): ChatRenderer {
  return {
    async show() {},
    async finish(outcome) {
      await spinner.stop();
      const record = { version, ...resultRecord(turn, outcome) };
      const { fields, jq } = select ?? {};
      const picked = fields === undefined ? record : pick(record, parseFields(fields), []);
      if (jq === undefined) return await output.json(`${JSON.stringify(picked, null, 2)}\n`);
      await writeJq(output, { jq }, JSON.stringify(picked));
    },
  };
}

function eventRecord(event: TurnEvent): object {
  if ("documents" in event && event.documents) {
    return { ...event, documents: event.documents.map(documentRecord) };
  }
  return event;
}

function eventLine(record: object): string {
  return `${JSON.stringify({ version, ...record })}\n`;
}

/** The result line of a question of a batch. `line`: input line, from 1; `fingerprint`: of the question. */
export function batchLine(
  {
    line,
    id,
    fingerprint,
  }: { line: number; id: string | undefined; fingerprint: string | undefined },
  turn: Turn,
  outcome: Outcome,
): string {
  const name = {
    line,
    ...(id === undefined ? {} : { id }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  return eventLine({ type: "result", ...name, ...resultRecord(turn, outcome) });
}

/** Writes a line for each event at once; the last line is always `result`. */
export function createNdjsonRenderer(
  output: Output,
  spinner: Spinner,
  { turn }: RenderOptions,
): ChatRenderer {
  return {
    async show(events) {
      await spinner.stop();
      if (events.length === 0) return;
      await output.json(events.map((event) => eventLine(eventRecord(event))).join(""));
    },
    async finish(outcome) {
      await spinner.stop();
      await output.json(eventLine({ type: "result", ...resultRecord(turn, outcome) }));
    },
  };
}

/**
 * A raw line of the service as one safe line. In valid JSON this changes only white
 * space; other control characters occur only in invalid lines.
 */
function safeLine(raw: string): string {
  return raw
    .replace(/[\r\n]+/g, " ")
    .replace(
      /[\u0000-\u0008\u000b-\u001f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

/** Writes only the raw lines of the service. */
export function createPacketsRenderer(output: Output, spinner: Spinner): ChatRenderer {
  return {
    async show(_events, lines) {
      await spinner.stop();
      if (lines.length === 0) return;
      await output.json(lines.map((line) => `${safeLine(line.raw)}\n`).join(""));
    },
    async finish() {
      await spinner.stop();
    },
  };
}
