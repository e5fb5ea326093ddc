import type { SearchDoc } from "../../../api/chat-schemas.ts";

/** Where in the turn something happens. Parallel tools of one turn differ in `tab`; `sub` is set inside a tool. */
export interface Place {
  turn: number;
  tab: number;
  sub: number | null;
}

/** Filters that a search really used; `sources` is empty where it was not narrowed. */
export interface AppliedFilters {
  sources: string[];
  from: string | null;
  to: string | null;
}

export interface MadeImage {
  fileId: string | null;
  /** As the service gives it: an address, or a path below its own. */
  url: string | null;
  prompt: string | null;
  shape: string | null;
}

/** What of a file was read, in characters. */
export interface ReadFile {
  name: string | null;
  fileId: string | null;
  from: number | null;
  to: number | null;
  total: number | null;
  beginning: string | null;
  end: string | null;
}

/** What a tool reports. `tool` is null where the packet does not say which one. */
export interface ToolEvent {
  type: "tool";
  tool: string | null;
  /**
   * `arguments`: the model is still writing the call, `input` holds the pieces;
   * `call`: the call as a test server tells it. `text` is a piece of running
   * text, `output` a finished one.
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
  /** Numbers in the text of a sub-agent. */
  citation?: { number: number; documentId: string };
  /** Arguments, code, a command, or the task of a sub-agent. */
  input?: unknown;
  /** Where a coding agent works. */
  repository?: string;
  /** Text, result, or what was written to stdout. */
  text?: string;
  /** What was written to stderr. */
  errorText?: string;
  exitCode?: number;
  timedOut?: boolean;
  /** Ids of files that were made. */
  fileIds?: string[];
  responseType?: string;
  images?: MadeImage[];
  file?: ReadFile;
  memory?: { operation: string | null; text: string | null; id: unknown; index: number | null };
  /** Why it failed; `auth` means that the user must sign in to it. */
  error?: { auth: boolean; status: number | null; message: string | null };
}

/**
 * What happens in a turn, in the tool's own words: the events of
 * `--output ndjson`, and what the renderer for people draws. `interim` says
 * that the text so far turned out not to belong to the answer.
 */
export type TurnEvent = TurnEventKind & {
  /** Number of the model, from 0, where several answer. */
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
  | { type: "error"; message: string; code: string | null; retryable: boolean | null };
