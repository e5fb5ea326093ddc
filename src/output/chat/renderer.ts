import type { TurnEvent } from "./turn/turn-event.ts";
import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { RenderMode } from "./markdown.ts";
import type { Turn } from "./turn/answer.ts";
import type { Shown } from "./turn/tools.ts";

export type ChatStatus = "ok" | "error" | "incomplete" | "interrupted";

/** How a question ended. */
export interface Outcome {
  status: ChatStatus;
  /** `exit` is a name of the exit-code table; `code` the service's own error code. */
  error: { exit: string; code: string | null; message: string } | null;
  /** `PROVIDER/VERSION` that was asked for. */
  requestedModel: string | null;
  warnings: string[];
  /** From sending to the first text of the answer and to the end. */
  timings: { firstTextMs: number | null; totalMs: number };
}

/** Draws one turn. Both functions write only through the output gate. */
export interface ChatRenderer {
  /** What one network chunk brought: its events and its lines. Written before it resolves. */
  show(events: readonly TurnEvent[], lines: readonly ChatEvent[]): Promise<void>;
  /** The end, also after a failure: held text first, then what belongs after the answer. */
  finish(outcome: Outcome): Promise<void>;
}

/** What of the one object of `json` is printed. */
export interface Selection {
  fields?: string | undefined;
  jq?: string | undefined;
}

export interface RenderOptions {
  /** The record that the events are taken into before they are shown. */
  turn: Turn;
  /** Write text as it comes, before it is known to belong to the answer. */
  live: boolean;
  show: ReadonlySet<Shown>;
  /** List the sources after the answer. */
  sources: boolean;
  /** Of `json` only this. */
  select?: Selection | undefined;
  /** How the answer's text is shown by `text` (default: auto). */
  render?: RenderMode | undefined;
  /** Cut few things short: lists of documents, output of tools. */
  all: boolean;
  /** The address of a file that the service names by a path of its own. */
  fileUrl?: ((path: string) => string) | undefined;
}
