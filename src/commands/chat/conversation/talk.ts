import type { AnswerLimits, ChatParameters } from "../../../api/chat/chat.ts";
import type { Client } from "../../../api/client.ts";
import type { FileDescriptor } from "../../../api/schemas.ts";
import { createMachine, expandPath } from "../../../config/find/folders.ts";
import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { dim } from "../../../output/terminal/text.ts";
import type { Memory, View } from "../ask.ts";
import type { LocalFile } from "../../files/local.ts";
import { describeFiles } from "../../files/upload.ts";
import type { SessionOwner } from "../session/session-index.ts";
import type { Ending } from "../turn.ts";
import type { History } from "./history.ts";

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
  readonly history: History;
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

/** Writes a dim line. */
export function hint({ output }: Pick<Talk, "output">, text: string): Promise<void> {
  return output.note(dim(text));
}

/** The place where `findSession` looks for a session. */
export const placeOf = ({ context: { env }, owner }: Talk, { client }: Work) => ({
  env,
  client,
  owner,
});

/** Resolves a path typed in a conversation. No shell has expanded `~`, the home folder. */
export function typedPath(talk: Pick<Talk, "context">, path: string): string {
  return expandPath(path, talk.context.cwd, createMachine(talk.context).home);
}

/** Begins a new session with the next question. */
export function leaveSession(talk: Talk): void {
  talk.sessionId = undefined;
  talk.parent = undefined;
  talk.last = null;
  talk.mayRepeat = false;
  talk.left = talk.exchanges.at(-1);
}

/** Uploads files, and attaches them and the uploaded ones of `ids` to the next question. */
export async function attach(
  talk: Talk,
  { signal, client }: Work,
  files: readonly LocalFile[],
  ids: readonly string[],
): Promise<void> {
  const { output } = talk;
  const { now, elapsed, sleep } = talk.context;
  const work = { context: { now, elapsed, sleep, signal }, client, output };
  talk.files = [...talk.files, ...(await describeFiles(work, files, ids))];
}

/** The settings that differ from the default, in a few words each. */
export function settingWords({ settings, files }: Talk): { general: string[]; filters: string[] } {
  const { allowedToolIds, forcedToolId, sourceTypes, documentSets, tags, timeCutoff } = settings;
  const word = (name: string, value: string | number | undefined): string[] =>
    value === undefined || value === "" ? [] : [`${name} ${value}`];
  const general = [
    ...word("agent", settings.personaId),
    ...word("project", settings.projectId),
    ...word("model", [settings.modelProvider, settings.modelVersion].filter(Boolean).join("/")),
    ...word("temperature", settings.temperature),
    ...(allowedToolIds?.length === 0 ? ["no tools"] : word("tools", allowedToolIds?.join(", "))),
    ...(forcedToolId === undefined ? [] : [`tool ${forcedToolId} forced`]),
    ...(settings.deepResearch ? ["deep research"] : []),
    ...word("files", files.map(({ name, id }) => name ?? id).join(", ")),
  ];
  const filters = [
    ...(sourceTypes ?? []).flatMap((name) => word("source", name)),
    ...(documentSets ?? []).flatMap((name) => word("set", name)),
    ...(tags ?? []).map(([key, value]) => `tag ${key}=${value}`),
    ...word("since", timeCutoff),
  ];
  return { general, filters };
}

/** The dim line above the input: the settings that differ from the default. */
export function statusOf(talk: Talk): string {
  const { general, filters } = settingWords(talk);
  return [...general, ...filters].join(" · ");
}
