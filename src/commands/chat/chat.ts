import {
  type ChatOptions,
  checkLive,
  checkPayloadSession,
  selectionOf,
  checkOptions,
  formatOf,
  parametersOf,
  shownOf,
  switchOf,
} from "./options.ts";
import type { ChatParameters } from "../../api/chat/chat.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { ChatFormat } from "../../output/chat/render.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { dim } from "../../output/terminal/text.ts";
import { ask, plainView, writeUnasked, viewOf, type View } from "./ask.ts";
import { type Question, combineSinks, type Ending, type AnswerSink } from "./turn.ts";
import type { LocalFile } from "../files/local.ts";
import {
  beginsConversation,
  planMessage,
  readMessage,
  readPayload,
  type MessagePlan,
} from "./message.ts";
import { withConnection, loadSettings, type Connected } from "../connect.ts";
import type { SessionOwner } from "./session/session-index.ts";

async function noteSession(
  context: Context,
  output: Output,
  { turn: { sessionId, messageId }, outcome: { status } }: Ending,
  format: View["format"],
  isRemembered: boolean,
): Promise<void> {
  // The error of a cut answer already names the next step.
  if (
    context.trialFiles !== undefined ||
    sessionId === null ||
    format !== "text" ||
    !["ok", "interrupted"].includes(status)
  )
    return;
  // A session without a known message is not recorded (remember.ts).
  const flag = isRemembered && messageId !== null ? "--continue" : `--session ${sessionId}`;
  await output.note(dim(`session ${sessionId} · continue with: \`knowctl chat ${flag} "…"\``));
}

/** Input that is read before anything is sent. */
interface Plan {
  message: MessagePlan;
  /** Members of a `--payload` file; a payload on stdin is read later. */
  payload: Record<string, unknown> | undefined;
  files: LocalFile[];
}

// Modules load only when needed: loading delays the first word of the answer.
async function checkLocalFiles(context: Context, { file = [] }: ChatOptions): Promise<LocalFile[]> {
  return file.length === 0 ? [] : (await import("../files/local.ts")).checkFiles(context.cwd, file);
}

async function filesOf(
  context: Context,
  { fileId = [], timeout }: ChatOptions,
  { client, output }: Pick<Connected, "client" | "output">,
  files: readonly LocalFile[],
): Promise<NonNullable<ChatParameters["fileDescriptors"]>> {
  if (files.length + fileId.length === 0) return [];
  const { describeFiles } = await import("../files/upload.ts");
  const work = { context, client, output, timeoutSeconds: timeout };
  return await describeFiles(work, files, fileId);
}

async function prepare(
  context: Context,
  options: ChatOptions,
  { client, config, output }: Connected,
  owner: SessionOwner,
  plan: Plan,
): Promise<Question> {
  const settings = config.chat;
  const base = parametersOf(options, settings, client.dialect, context.now());
  if (options.continue) {
    const { lastSession } = await import("./session/session-index.ts");
    base.sessionId = lastSession(context.env, owner).id;
  }
  if (base.sessionId !== undefined && options.session !== undefined) {
    const { findSession } = await import("./session/find-session.ts");
    base.sessionId = await findSession({ env: context.env, client, owner }, options.session);
  }
  const extra =
    plan.payload ?? (options.payload === "-" ? await readPayload(context, "-") : undefined);
  const asked = extra?.["stream"];
  const whole = typeof asked === "boolean" ? !asked : !switchOf(options, "stream", settings.stream);
  checkLive(options, whole);
  const named = extra?.["chat_session_id"];
  if (typeof named === "string" && named !== "") {
    checkPayloadSession(options);
    // The service refuses an agent or project together with a session.
    delete base.personaId;
    delete base.projectId;
    base.sessionId = named;
  }
  const message = await readMessage(context, plan.message, () => {
    // Tells the user why nothing happens.
    output.note(dim('waiting for the message on stdin; or: knowctl chat "…"')).catch(() => {});
  });
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
  const files = await filesOf(context, options, { client, output }, plan.files);
  const parameters: ChatParameters = {
    ...base,
    message,
    ...(files.length === 0 ? {} : { fileDescriptors: files }),
    ...(extra === undefined ? {} : { extra }),
  };
  return { parameters, whole, limits: { lineBytes: options.maxPacket } };
}

/** The file of `--save`, checked. Throws CliError `usage`. */
async function saveFile(context: Context, { save }: ChatOptions): Promise<string | undefined> {
  if (save === undefined) return undefined;
  const { saveTarget } = await import("./save.ts");
  return saveTarget(context, save);
}

/** The sink of `--save` and `--record`. Throws CliError `usage`. */
async function sinkOf(
  context: Context,
  output: Output,
  options: ChatOptions,
  question: Question | undefined,
  fileUrl?: View["fileUrl"],
): Promise<AnswerSink | undefined> {
  const { record, force } = options;
  const save = await saveFile(context, options);
  const sinks: AnswerSink[] = [];
  if (record !== undefined && question) {
    const { createRecorder } = await import("./recording.ts");
    sinks.push(createRecorder(context, output, question, { record, force: force === true }));
  }
  if (save !== undefined) {
    const { createSaver } = await import("./save.ts");
    sinks.push(createSaver(save, output, fileUrl));
  }
  return combineSinks(sinks);
}

/** Ends a command whose answer has been drawn. Throws what made it fail. */
async function finish(output: Output, { outcome, failure }: Ending): Promise<void> {
  for (const warning of outcome.warnings) await output.warn(warning);
  if (failure !== undefined) throw failure;
}

async function replayAnswer(
  context: Context,
  args: string[],
  options: ChatOptions & { replay: string },
  begin: () => ChatFormat,
): Promise<void> {
  const output = createOutput(context, options);
  const { checkReplay, replay } = await import("./recording.ts");
  checkReplay(args);
  const config = await loadSettings(context, options, output, {
    sends: false,
    needsProfile: false,
  });
  const sink = await sinkOf(context, output, options, undefined);
  const view = plainView(options, config.chat, output, begin());
  await finish(output, await replay(context, output, options, view, sink));
}

async function askOnce(
  context: Context,
  args: string[],
  options: ChatOptions,
  begin: () => ChatFormat,
): Promise<void> {
  checkOptions(options);
  shownOf(options.show, undefined);
  const save = await saveFile(context, options);
  const file = options.payload;
  const payload = file === undefined || file === "-" ? undefined : await readPayload(context, file);
  const hasMessage = typeof payload?.["message"] === "string";
  if (file !== "-" && !hasMessage && beginsConversation(context, args, options)) {
    const start = { payload, save, files: await checkLocalFiles(context, options) };
    if (options.record !== undefined) {
      throw new CliError("usage", "--record stores one answer, not a conversation", {
        hints: ['add a message: knowctl chat --record FILE "…"'],
      });
    }
    const { converse } = await import("./conversation/conversation.ts");
    return await converse(context, options, start);
  }
  const message = planMessage(context, args, file, hasMessage);
  const files = await checkLocalFiles(context, options);
  if (context.stdout.closed) throw context.stdout.closed;
  await withConnection(context, options, async (connected) => {
    const { config, connection, output } = connected;
    const owner = { profile: config.profile, baseUrl: connection.baseUrl };
    const question = await prepare(context, options, connected, owner, { message, payload, files });
    const view = viewOf(context, options, connected, formatOf(options));
    const sink = await sinkOf(context, output, options, question, view.fileUrl);
    begin();
    const memory = switchOf(options, "remember", config.chat.remember) ? owner : undefined;
    const ending = await ask(context, { ...connected, memory }, question, view, sink);
    await noteSession(context, output, ending, view.format, memory !== undefined);
    await finish(output, ending);
  });
}

/**
 * `knowctl chat`: asks one question and writes its answer to stdout; without a question it
 * starts a conversation. Throws CliError by the kind of failure. A cut answer is `incomplete`,
 * and its arrived part is written. The session is remembered for `--continue`. Machine
 * formats end with a result even if no question was sent.
 */
export async function chat(context: Context, args: string[], options: ChatOptions): Promise<void> {
  if (options.batch !== undefined && options.replay === undefined) {
    const { batch } = await import("./batch/batch.ts");
    return await batch(context, args, options);
  }
  const format = formatOf(options);
  const select = selectionOf(options);
  if (select !== undefined) {
    const { checkSelection } = await import("../../output/chat/machine.ts");
    checkSelection(select);
  }
  let hasBegun = false;
  const begin = (): ChatFormat => {
    hasBegun = true;
    return format;
  };
  const { replay } = options;
  try {
    if (replay === undefined) await askOnce(context, args, options, begin);
    else await replayAnswer(context, args, { ...options, replay }, begin);
  } catch (error) {
    if (!hasBegun) await writeUnasked(context, createOutput(context, options), format, error);
    throw error;
  }
}
