import type { SearchDoc } from "../../../api/chat-schemas.ts";

/** Position in the turn. Parallel tools of one turn differ in `tab`; `sub` is set inside a tool. */
export interface Place {
  turn: number;
  tab: number;
  sub: number | null;
}

/** Filters that a search really used; empty `sources` means all sources. */
export interface AppliedFilters {
  sources: string[];
  from: string | null;
  to: string | null;
}

export interface MadeImage {
  fileId: string | null;
  /** As the service sends it: a URL, or a path on the service. */
  url: string | null;
  prompt: string | null;
  shape: string | null;
}

/** The part of a file that was read; `from`, `to` and `total` in characters. */
export interface ReadFile {
  name: string | null;
  fileId: string | null;
  from: number | null;
  to: number | null;
  total: number | null;
  beginning: string | null;
  end: string | null;
}

/** An event of a tool. `tool` is null if the packet does not name the tool. */
export interface ToolEvent {
  type: "tool";
  tool: string | null;
  /**
   * `arguments`: the model is still writing the call, `input` has a piece of it;
   * `call`: the call as a test server reports it; `text`: a piece of streamed text;
   * `output`: a complete text.
   */
  step: "arguments" | "call" | "start" | "input" | "text" | "output" | "failed";
  place: Place;
  toolId?: number;
  callId?: string;
  internet?: boolean;
  queries?: string[];
  filters?: AppliedFilters;
  urls?: string[];
  documents?: SearchDoc[];
  /** Citation in the text of a sub-agent. */
  citation?: { number: number; documentId: string };
  /** Arguments, code, a command, or the task of a sub-agent. */
  input?: unknown;
  /** Repository of a coding agent. */
  repository?: string;
  /** Text, result, or stdout. */
  text?: string;
  /** Text on stderr. */
  errorText?: string;
  exitCode?: number;
  timedOut?: boolean;
  /** Ids of created files. */
  fileIds?: string[];
  responseType?: string;
  images?: MadeImage[];
  file?: ReadFile;
  memory?: { operation: string | null; text: string | null; id: unknown; index: number | null };
  /** Why the tool failed; `auth`: the user must sign in to the tool. */
  error?: { auth: boolean; status: number | null; message: string | null };
}

/**
 * An event of a turn in knowctl's format: a line of `--output ndjson`, and the input of
 * the renderer for people. `interim`: the text so far is not part of the answer.
 */
export type TurnEvent = TurnEventKind & {
  /** Number of the model, from 0, if several models answer. */
  model?: number;
};

type TurnEventKind =
  | { type: "session"; sessionId: string }
  | { type: "message"; userMessageId: number | null; messageId: number }
  | { type: "models"; models: { messageId: number; name: string | null }[] }
  | { type: "start"; place: Place; documents: SearchDoc[]; processingSeconds?: number }
  | { type: "text"; text: string }
  | { type: "interim"; text: string }
  | { type: "citation"; number: number; documentId: string }
  | { type: "reasoning"; text: string; place: Place }
  | { type: "branches"; count: number; place: Place }
  | ToolEvent
  /** A block of reasoning, a tool, a plan or a report is finished. */
  | { type: "end"; place: Place }
  | { type: "stop"; reason: string | null }
  | {
      type: "error";
      message: string;
      code: string | null;
      retryable: boolean | null;
      /** The model, if its vendor failed. */
      vendorModel?: string;
    };
