import type { AnswerLimits, ChatParameters } from "../../../api/chat/chat.ts";
import type { Client } from "../../../api/client.ts";
import type { FileDescriptor } from "../../../api/schemas.ts";
import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { View } from "../ask.ts";
import type { Memory } from "../session/remember.ts";
import type { SessionOwner } from "../session/session-index.ts";
import type { Ending } from "../turn.ts";

/** Options that are sent with each question. */
export type Settings = Omit<
  ChatParameters,
  "message" | "sessionId" | "parentMessageId" | "fromRoot" | "fileDescriptors"
>;

/** One question of the conversation, and how its answer ended. */
export interface Exchange {
  parameters: ChatParameters;
  ending: Ending;
  /**
   * The assistant message that the question follows. Null: the question began
   * its session. Undefined: not known.
   */
  after: number | null | undefined;
}

/** A conversation: the state that its commands read and change. */
export interface Talk {
  readonly context: Context;
  readonly output: Output;
  readonly client: Client;
  readonly owner: SessionOwner;
  readonly memory: Memory;
  readonly view: View;
  readonly whole: boolean;
  readonly limits: AnswerLimits | undefined;
  /** The file of `--save`; holds the last complete answer. */
  readonly save: string | undefined;
  /** Entries of this and earlier conversations of the profile, oldest first. */
  entered(): readonly string[];
  /** Adds an entry to the history. */
  record(text: string): void;
  settings: Settings;
  /** Undefined until the service has assigned one. */
  sessionId: string | undefined;
  /** The message that the next question follows, from `--parent`. */
  parent: number | undefined;
  /** The last answer of the session, with the meaning of `Exchange.after`. */
  last: number | null | undefined;
  /** Attached to the next question. */
  files: FileDescriptor[];
  exchanges: Exchange[];
  /** The last exchange before the current session: it cannot be repeated in this one. */
  left?: Exchange | undefined;
  /** Warnings that are already shown and not repeated. */
  readonly warned: Set<string>;
  /** `/retry` has warned that the state is unknown; the next `/retry` sends anyway. */
  mayRepeat: boolean;
}

/** A job that Ctrl-C stops without ending the conversation. */
export interface Work {
  readonly signal: AbortSignal;
  /** Its requests are aborted by the signal. */
  readonly client: Client;
}

/** Begins a new session with the next question. */
export function leaveSession(talk: Talk): void {
  talk.sessionId = undefined;
  talk.parent = undefined;
  talk.last = null;
  talk.mayRepeat = false;
  talk.left = talk.exchanges.at(-1);
}

function filterWords({ sourceTypes, documentSets, tags, timeCutoff }: Settings): string[] {
  return [
    ...(sourceTypes ?? []).map((name) => `source ${name}`),
    ...(documentSets ?? []).map((name) => `set ${name}`),
    ...(tags ?? []).map(([key, value]) => `tag ${key}=${value}`),
    ...(timeCutoff === undefined ? [] : [`since ${timeCutoff}`]),
  ];
}

function toolWords({ allowedToolIds, forcedToolId }: Settings): string[] {
  const allowed =
    allowedToolIds === undefined
      ? []
      : [allowedToolIds.length === 0 ? "no tools" : `tools ${allowedToolIds.join(", ")}`];
  return forcedToolId === undefined ? allowed : [...allowed, `tool ${forcedToolId} forced`];
}

/** The settings that differ from the default, in a few words each. */
export function settingWords(talk: Talk): { general: string[]; filters: string[] } {
  const { settings, files } = talk;
  const { personaId, projectId, modelProvider, modelVersion, temperature } = settings;
  const model = [modelProvider, modelVersion].filter(Boolean).join("/");
  const general = [
    ...(personaId === undefined ? [] : [`agent ${personaId}`]),
    ...(projectId === undefined ? [] : [`project ${projectId}`]),
    ...(model === "" ? [] : [`model ${model}`]),
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...toolWords(settings),
    ...(settings.deepResearch ? ["deep research"] : []),
    ...(files.length === 0 ? [] : [`files ${files.map(({ name, id }) => name ?? id).join(", ")}`]),
  ];
  return { general, filters: filterWords(settings) };
}

/** The dim line above the input: the settings that differ from the default. */
export function statusOf(talk: Talk): string {
  const { general, filters } = settingWords(talk);
  return [...general, ...filters].join(" · ");
}
