import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { Connected } from "../../connect.ts";
import { viewOf } from "../ask.ts";
import type { LocalFile } from "../../files/upload.ts";
import { type ChatOptions, parametersOf, switchOf } from "../options.ts";
import { findSession } from "../session/find-session.ts";
import { lastSession } from "../session/session-index.ts";
import { openHistory } from "./history.ts";
import { resumeSession } from "./session-commands.ts";
import { attach, hint, placeOf, type Settings, type Talk, type Work } from "./talk.ts";

/** Input that one-shot chat has checked before it starts a conversation. */
export interface Start {
  /** Members of a `--payload` file. */
  payload: Record<string, unknown> | undefined;
  files: readonly LocalFile[];
  /** The file of `--save`. */
  save: string | undefined;
}

/** Separates the payload's members of the conversation from those of each question. */
function splitPayload(payload: Start["payload"]) {
  const { chat_session_id, parent_message_id, stream, ...extra } = payload ?? {};
  return {
    sessionId: typeof chat_session_id === "string" ? chat_session_id : "",
    parent: typeof parent_message_id === "number" ? parent_message_id : undefined,
    stream: typeof stream === "boolean" ? stream : undefined,
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  };
}

/** The initial conversation from flags and configuration. Throws CliError. */
export function openTalk(
  context: Context,
  connected: Connected & { output: Output },
  options: ChatOptions,
  start: Start,
): Talk {
  const { client, config, connection, output } = connected;
  const settings = config.chat;
  const {
    sessionId: _session,
    parentMessageId,
    ...base
  } = parametersOf(options, settings, client.dialect, context.now());
  const payload = splitPayload(start.payload);
  const owner = { profile: config.profile, baseUrl: connection.baseUrl };
  const isRemembered = switchOf(options, "remember", settings.remember);
  const given = { env: context.env, profile: config.profile, now: () => context.now() };
  const history = openHistory(
    given,
    { isKept: isRemembered, redact: (text) => output.secrets.redact(text) },
    (problem) => void output.warn(problem).catch(() => {}),
  );
  const extra = payload.extra === undefined ? {} : { extra: payload.extra };
  return {
    context,
    output,
    client,
    owner,
    memory: isRemembered ? owner : undefined,
    view: viewOf(context, options, connected, "text"),
    whole: !(payload.stream ?? switchOf(options, "stream", settings.stream)),
    limits: { lineBytes: options.maxPacket },
    save: start.save,
    history,
    settings: { ...base, ...extra } as Settings,
    sessionId: undefined,
    parent: parentMessageId ?? payload.parent,
    last: null,
    files: [],
    exchanges: [],
    warned: new Set(),
    mayRepeat: false,
  };
}

async function resumeRequested(
  talk: Talk,
  work: Work,
  options: ChatOptions,
  start: Start,
): Promise<void> {
  const { context, owner, parent } = talk;
  const named = splitPayload(start.payload).sessionId || options.session;
  if (named === undefined && !options.continue) return;
  const id =
    named === undefined
      ? lastSession(context.env, owner).id
      : await findSession(placeOf(talk, work), named);
  await resumeSession(talk, work, id);
  talk.parent = parent;
}

/**
 * Prepares the first prompt: resumes the session of the flags, shows its last exchange, and
 * uploads the files of `--file`. Throws CliError if any of these fails: the conversation then
 * does not start.
 */
export async function beginTalk(
  talk: Talk,
  work: Work,
  options: ChatOptions,
  start: Start,
): Promise<void> {
  const { output, settings, owner } = talk;
  const profile = owner.profile === "default" ? "" : `${owner.profile} · `;
  const where = `${profile}${owner.baseUrl}`;
  const how = "/help lists the commands, Ctrl-D leaves";
  const isWide = where.length + how.length + 3 <= output.columns();
  await hint(talk, isWide ? `${where} · ${how}` : `${where}\n${how}`);
  if (settings.deepResearch) {
    await hint(talk, "deep research consumes significantly more tokens than an ordinary question");
  }
  await resumeRequested(talk, work, options, start);
  await attach(talk, work, start.files, options.fileId ?? []);
}
