import { statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ChatParameters } from "../../api/chat.ts";
import { writeWhole } from "../../config/files.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { ChatFormat } from "../../output/chat/render.ts";
import type { Output } from "../../output/output.ts";
import { dim } from "../../output/text.ts";
import { ask, viewOf, type Question } from "./ask.ts";
import { checkFiles, describeFiles, type LocalFile } from "./files.ts";
import {
  beginsConversation,
  planMessage,
  readMessage,
  readPayload,
  type MessagePlan,
} from "./message.ts";
import {
  checkOptions,
  formatOf,
  parametersOf,
  shownOf,
  switchOf,
  type ChatOptions,
} from "./options.ts";
import type { Ending } from "./turn.ts";
import { connect, type Connected } from "../connect.ts";
import { findSession } from "./find-session.ts";
import { lastSession, type SessionOwner } from "./session-index.ts";

/** The file of `--save`, checked before anything is sent. Throws CliError `usage`. */
function saveTarget(context: Context, save: string | undefined): string | undefined {
  if (save === undefined) return undefined;
  const path = resolve(context.cwd, save);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `--save: ${save} is a folder`, { hints: ["name a file"] });
  }
  if (!statSync(resolve(path, ".."), { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `--save: the folder of ${save} does not exist`);
  }
  return path;
}

function saveAnswer(path: string, answer: string): void {
  const text = answer.endsWith("\n") ? answer : `${answer}\n`;
  const known = statSync(path, { throwIfNoEntry: false });
  // A device or pipe is written to, never replaced by a file.
  if (known && !known.isFile()) writeFileSync(path, text);
  else writeWhole(path, text, { keepMode: true });
}

async function noteSession(
  output: Output,
  { turn: { sessionId }, outcome: { status } }: Ending,
  format: ChatFormat,
): Promise<void> {
  if (sessionId === null || format !== "text" || status === "error") return;
  await output.note(dim(`session ${sessionId} · go on with: knowctl chat --continue "…"`));
}

/** What is known before anything is sent. */
interface Plan {
  message: MessagePlan;
  /** Members of a `--payload` file; that of stdin is read later. */
  payload: Record<string, unknown> | undefined;
  files: LocalFile[];
}

async function prepare(
  context: Context,
  options: ChatOptions,
  { client, config, output }: Connected & { output: Output },
  owner: SessionOwner,
  plan: Plan,
): Promise<Question> {
  const settings = config.chat;
  const base = parametersOf(options, settings, client.dialect, context.now());
  if (options.continue) base.sessionId = lastSession(context.env, owner).id;
  if (base.sessionId !== undefined && options.session !== undefined) {
    base.sessionId = await findSession({ env: context.env, client, owner }, options.session);
  }
  const extra =
    plan.payload ?? (options.payload === "-" ? await readPayload(context, "-") : undefined);
  const named = extra?.["chat_session_id"];
  if (typeof named === "string" && named !== "") {
    // An Agent or Project beside a session is refused by the service.
    delete base.personaId;
    delete base.projectId;
    base.sessionId = named;
  }
  const message = await readMessage(context, plan.message);
  if (message === "" && typeof extra?.["message"] !== "string") {
    throw new CliError("usage", "--payload holds no message", {
      hints: ['knowctl chat "…" --payload -'],
    });
  }
  if (base.deepResearch) {
    await output.note(
      dim("deep research consumes significantly more tokens than an ordinary question"),
    );
  }
  const files = await describeFiles(client, plan.files, options.fileId ?? []);
  const parameters: ChatParameters = {
    ...base,
    message,
    ...(files.length === 0 ? {} : { fileDescriptors: files }),
    ...(extra === undefined ? {} : { extra }),
  };
  const asked = extra?.["stream"];
  const whole = typeof asked === "boolean" ? !asked : !switchOf(options, "stream", settings.stream);
  return { parameters, whole };
}

/**
 * `knowctl chat`: one question, its answer on stdout; without one a conversation. Throws CliError by the
 * kind of failure; an answer that was cut is `incomplete` and what came of it
 * has been written. The session is remembered for `--continue`.
 */
export async function chat(context: Context, args: string[], options: ChatOptions): Promise<void> {
  checkOptions(options);
  const format = formatOf(options);
  shownOf(options.show, undefined);
  const save = saveTarget(context, options.save);
  const file = options.payload;
  const payload = file === undefined || file === "-" ? undefined : await readPayload(context, file);
  const hasMessage = typeof payload?.["message"] === "string";
  if (file !== "-" && !hasMessage && beginsConversation(context, args, options)) {
    const start = { payload, save, files: checkFiles(context.cwd, options.file ?? []) };
    const { converse } = await import("./conversation/conversation.ts");
    return await converse(context, options, start);
  }
  const message = planMessage(context, args, file, hasMessage);
  const files = checkFiles(context.cwd, options.file ?? []);
  const connected = await connect(context, options, { oneShot: true });
  const { client, config, connection, output } = connected;
  try {
    const owner = { profile: config.profile, baseUrl: connection.baseUrl };
    const question = await prepare(context, options, connected, owner, { message, payload, files });
    const view = viewOf(context, options, connected, format);
    const memory = switchOf(options, "remember", config.chat.remember) ? owner : undefined;
    const ending = await ask(context, { ...connected, memory }, question, view);
    await noteSession(output, ending, format);
    for (const warning of ending.outcome.warnings) await output.warn(warning);
    if (ending.failure !== undefined) throw ending.failure;
    if (save !== undefined) saveAnswer(save, ending.turn.answer);
  } finally {
    await client.close();
  }
}
