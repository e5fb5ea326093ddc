import type { TurnEvent } from "./turn/chat-events.ts";
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
  /** Requested `PROVIDER/VERSION`. */
  requestedModel: string | null;
  warnings: string[];
  /** Times from sending the question to the first text and to the end of the answer. */
  timings: { firstTextMs: number | null; totalMs: number };
}

/** Renders one turn. Both functions write only through the output gate. */
export interface ChatRenderer {
  /** Shows the events and lines of one network chunk. Resolves when they are written. */
  show(events: readonly TurnEvent[], lines: readonly ChatEvent[]): Promise<void>;
  /** Ends the turn, also after a failure: writes buffered text, then the text after the answer. */
  finish(outcome: Outcome): Promise<void>;
}

/** Selects parts of the object of `--output json`. */
export interface Selection {
  fields?: string | undefined;
  jq?: string | undefined;
}

export interface RenderOptions {
  /** The record of the turn; events are added to it before show(). */
  turn: Turn;
  /** Write text at once, before it is certain that it belongs to the answer. */
  live: boolean;
  show: ReadonlySet<Shown>;
  /** List the sources after the answer. */
  sources: boolean;
  /** Parts to print, for format `json`. */
  select?: Selection | undefined;
  /** Rendering of the answer in format `text` (default: auto). */
  render?: RenderMode | undefined;
  /** Show longer lists of documents and longer output of tools. */
  all: boolean;
  /** Turns a path on the service into the address of a file. */
  fileUrl?: ((path: string) => string) | undefined;
}
