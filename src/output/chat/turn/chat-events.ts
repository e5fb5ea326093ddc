import * as z from "zod/mini";
import type { SearchDoc } from "../../../api/chat-schemas.ts";
import { count, titled, text } from "../../describe.ts";

// The descriptions become schema/chat-events.schema.json. New members are optional, so that
// readers of version 1 keep working.
const textOrNull = (description: string) => z.nullable(z.string()).check(z.describe(description));
const idOrNull = (description: string) => z.nullable(z.int()).check(z.describe(description));

const place = z
  .object({
    turn: z.int(),
    tab: z.int().check(z.describe("number of the tool among parallel tools")),
    sub: idOrNull("set inside a tool or sub-agent"),
  })
  .check(z.describe("position in the turn"));

const documents = z.array(
  z.object({
    documentId: z.string(),
    title: z.nullable(z.string()),
    link: z.nullable(z.string()),
    sourceType: z.nullable(z.string()),
    updatedAt: z.nullable(z.string()),
    blurb: z.nullable(z.string()),
  }),
);
const filters = z.object({
  sources: z.array(z.string()).check(z.describe("empty: all sources")),
  from: z.nullable(z.string()),
  to: z.nullable(z.string()),
});
const images = z.array(
  z.object({
    fileId: z.nullable(z.string()),
    url: textOrNull("URL, or a path on the service"),
    prompt: z.nullable(z.string()),
    shape: z.nullable(z.string()),
  }),
);
const readFile = z.object({
  name: z.nullable(z.string()),
  fileId: z.nullable(z.string()),
  from: z.nullable(z.int()),
  to: z.nullable(z.int()),
  total: z.nullable(z.int()),
  beginning: z.nullable(z.string()),
  end: z.nullable(z.string()),
});
const toolError = z.object({
  auth: z.boolean().check(z.describe("the user must sign in to the tool")),
  status: z.nullable(z.int()),
  message: z.nullable(z.string()),
});

function event<const Type extends string, const Shape extends Record<string, z.core.$ZodType>>(
  type: Type,
  shape: Shape,
) {
  return z.object({ version: z.literal(1), type: z.literal(type), ...shape });
}

const modelIndex = z.optional(count("number of the model, from 0, if several models answer"));

/** An event of one model, if several models answer. */
function modelEvent<const Type extends string, const Shape extends Record<string, z.core.$ZodType>>(
  type: Type,
  shape: Shape,
) {
  return event(type, { ...shape, model: modelIndex });
}

const toolEvent = modelEvent("tool", {
  tool: textOrNull("null if the packet does not name the tool"),
  // `arguments`: the model is still writing the call, `input` has a piece of it; `call`: the call as
  // a test server reports it; `text`: a piece of streamed text; `output`: a complete text.
  step: z.enum(["arguments", "call", "start", "input", "text", "output", "failed"]),
  place,
  toolId: z.optional(z.int()),
  callId: z.optional(z.string()),
  internet: z.optional(z.boolean()),
  queries: z.optional(z.array(z.string())),
  filters: z.optional(filters),
  urls: z.optional(z.array(z.string())),
  documents: z.optional(documents),
  citation: z.optional(z.object({ number: z.int(), documentId: z.string() })),
  input: z.optional(z.unknown().check(z.describe("arguments, code, a command, or a task"))),
  repository: z.optional(z.string()),
  text: z.optional(text("text, result, or stdout of a command")),
  errorText: z.optional(text("stderr of a command")),
  exitCode: z.optional(z.int()),
  timedOut: z.optional(z.boolean()),
  fileIds: z.optional(z.array(z.string())),
  responseType: z.optional(z.string()),
  images: z.optional(images),
  file: z.optional(readFile),
  memory: z.optional(
    z.object({
      operation: z.nullable(z.string()),
      text: z.nullable(z.string()),
      id: z.optional(z.unknown()),
      index: z.nullable(z.int()),
    }),
  ),
  error: z.optional(toolError),
});

const toolCall = z.object({
  tool: z.string(),
  turn: z.int(),
  tab: z.int(),
  sub: z.nullable(z.int()),
  toolId: z.nullable(z.int()),
  internet: z.boolean(),
  queries: z.array(z.string()),
  filters: z.nullable(filters),
  input: z.optional(z.unknown()),
  reasoning: z.string(),
  output: z.string(),
  errorOutput: z.string(),
  exitCode: z.nullable(z.int()),
  documentIds: z.array(z.string()),
  images,
  fileIds: z.array(z.string()),
  files: z.array(readFile),
  failed: z.boolean(),
  error: z.nullable(toolError),
});

const citations = z.array(
  z.object({
    number: z.int().check(z.describe("as in the text")),
    documentId: z.nullable(z.string()),
    title: z.string(),
    link: z.nullable(z.string()),
    file: textOrNull("local file from which the document was uploaded"),
    mismatch: textOrNull("how the citation marker and the document disagree"),
  }),
);

/** The answer of one of several models. */
const modelAnswer = z.object({
  model: z.nullable(z.string()),
  messageId: idOrNull("id of this answer"),
  answer: z.string(),
  citations,
  documents,
  toolCalls: z.array(toolCall),
  reasoning: z.string(),
  interim: z.array(z.string()),
  stopReason: z.nullable(z.string()),
  error: z.nullable(z.object({ code: z.nullable(z.string()), message: z.string() })),
});

const result = event("result", {
  line: z.optional(count("chat --batch: line of the input, from 1")),
  id: z.optional(text("chat --batch: id of the question, if it has one")),
  fingerprint: z.optional(
    text("chat --batch: fingerprint of the question; changes with the question"),
  ),
  status: z.enum(["ok", "error", "incomplete", "interrupted"]),
  answer: text("the final answer; its received part if the status is not ok"),
  citations,
  documents,
  toolCalls: z.array(toolCall),
  reasoning: z.string(),
  interim: z.array(z.string()).check(z.describe("texts before tool calls, not part of the answer")),
  sessionId: z.nullable(z.string()),
  userMessageId: idOrNull("id of the question"),
  messageId: idOrNull("id of the answer, the parent of the next question"),
  model: z.object({
    requested: textOrNull("requested PROVIDER/VERSION"),
    reported: textOrNull("model name that the service reports"),
  }),
  stopReason: z.nullable(z.string()),
  filtersApplied: z.nullable(filters),
  timings: z.object({
    firstTextMs: z
      .nullable(z.number())
      .check(z.describe("from sending the question to the first text")),
    totalMs: z.number(),
  }),
  warnings: z
    .array(z.string())
    .check(z.describe("parts of the request that the service silently did not follow")),
  error: z.nullable(
    z.object({
      exit: text("name of the exit code"),
      code: textOrNull("error code of the service or of the transport"),
      message: z.string(),
    }),
  ),
  answers: z.optional(
    z
      .array(modelAnswer)
      .check(
        z.describe("if several models answer: all answers; the members above are of the first"),
      ),
  ),
});

export const ChatEventLine = titled(
  z.discriminatedUnion("type", [
    event("session", { sessionId: z.string() }),
    event("message", { userMessageId: idOrNull("id of the question"), messageId: z.int() }),
    event("models", {
      models: z.array(z.object({ messageId: z.int(), name: z.nullable(z.string()) })),
    }),
    modelEvent("start", { place, documents, processingSeconds: z.optional(z.number()) }),
    modelEvent("text", {
      text: text("piece of text; part of the answer, unless an interim event follows"),
    }),
    modelEvent("interim", {
      text: text("all text since the last start: not part of the answer"),
    }),
    modelEvent("citation", { number: z.int(), documentId: z.string() }),
    modelEvent("reasoning", { text: z.string(), place }),
    modelEvent("branches", { count: count("number of parallel tools from here"), place }),
    toolEvent,
    modelEvent("end", { place }).check(
      z.describe("a block of reasoning, a tool or a report is finished"),
    ),
    modelEvent("stop", { reason: z.nullable(z.string()) }),
    modelEvent("error", {
      message: z.string(),
      code: z.nullable(z.string()),
      retryable: z.nullable(z.boolean()),
      vendorModel: z.optional(text("the model whose vendor failed")),
    }),
    result,
  ]),
  "knowctl chat events",
  "A line of `knowctl chat --output ndjson`; the last line is always the result. Lines of `knowctl chat --batch` are results.",
);
export type ChatEventLine = z.infer<typeof ChatEventLine>;

/** Position in the turn. Parallel tools of one turn differ in `tab`; `sub` is set inside a tool. */
export type Place = z.infer<typeof place>;
/** Filters that a search really used. */
export type AppliedFilters = z.infer<typeof filters>;
export type MadeImage = z.infer<typeof images>[number];
/** The part of a file that was read; `from`, `to` and `total` in characters. */
export type ReadFile = z.infer<typeof readFile>;
/** Input and output of one tool call: an element of `toolCalls` in the result. */
export type ToolCall = z.infer<typeof toolCall>;

type Line = Exclude<ChatEventLine, { type: "result" }>;
/** A line with the service's own documents. */
type EventOf<Of> = Of extends { documents: unknown }
  ? Omit<Of, "version" | "documents"> & { documents: SearchDoc[] }
  : Of extends { type: "tool" }
    ? Omit<Of, "version" | "documents"> & { documents?: SearchDoc[] | undefined }
    : Omit<Of, "version">;

/**
 * An event of a turn in knowctl's format: a line of `--output ndjson`, and the input of
 * the renderer for people.
 */
export type TurnEvent = EventOf<Line> & { model?: number | undefined };
export type ToolEvent = EventOf<Extract<Line, { type: "tool" }>>;
