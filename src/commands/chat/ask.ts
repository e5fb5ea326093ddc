import type { Client } from "../../api/client.ts";
import { urlOfFile } from "../../api/transport/multipart.ts";
import type { ChatSettings } from "../../config/values/schema.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError, messageOf } from "../../errors.ts";
import { chatRenderers, type ChatFormat } from "../../output/chat/render.ts";
import type { ChatRenderer, RenderOptions } from "../../output/chat/renderer.ts";
import { citedIds } from "../../output/chat/sources.ts";
import { createTurn, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import type { Output } from "../../output/terminal/output.ts";
import { createSpinner } from "../../output/terminal/spinner.ts";
import type { Connected } from "../connect.ts";
import { createChecks, type Facts } from "./checks.ts";
import { type ChatOptions, selectionOf, shownOf, switchOf } from "./options.ts";
import {
  sendQuestion,
  type Question,
  endUnasked,
  runTurn,
  silentRenderer,
  type AnswerSink,
  type Ending,
} from "./turn.ts";
import type { SessionOwner } from "./session/session-index.ts";

/** How answers are drawn. Format `silent` draws nothing: everything is in the ending. */
export interface View extends Omit<RenderOptions, "turn"> {
  format: ChatFormat | "silent";
  /** Local files of documents, by document id. Never throws. */
  findFiles?: ((ids: readonly string[]) => Promise<ReadonlyMap<string, string>>) | undefined;
  facts: Facts;
}

/** The view from flags and configuration, without a service. Throws CliError `usage`. */
export function plainView(
  options: ChatOptions,
  settings: ChatSettings,
  output: Output,
  format: View["format"],
): View {
  return {
    format,
    live: output.isTerminal || (options.live ?? settings.live ?? false),
    sources: switchOf(options, "sources", settings.sources),
    select: selectionOf(options),
    render: options.render ?? settings.render ?? "auto",
    ...shownOf(options.show, settings.show, output),
    facts: {},
  };
}

/** The view from flags and configuration. Throws CliError `usage`. */
export function viewOf(
  context: Context,
  options: ChatOptions,
  connected: Connected,
  format: ChatFormat,
): View {
  const { client, output } = connected;
  return {
    ...plainView(options, connected.config.chat, output, format),
    fileUrl: (path) => urlOfFile(client, path),
    async findFiles(ids) {
      const { findFiles } = await import("./local-files.ts");
      return await findFiles(context, options, connected, ids);
    },
  };
}

/** The renderer of a view for one turn. */
export function rendererOf(
  output: Output,
  { format, ...view }: View,
  turn: Turn,
  spinner = createSpinner(output),
): ChatRenderer {
  if (format === "silent") return silentRenderer;
  return chatRenderers[format](output, spinner, { turn, ...view });
}

/** Adds the local files of the cited documents to the turn. */
export async function addLocalFiles({ format, findFiles }: View, turn: Turn): Promise<void> {
  const cited = format === "packets" ? [] : turnsOf(turn).flatMap(citedIds);
  if (!findFiles || cited.length === 0) return;
  const files = await findFiles(cited);
  for (const each of turnsOf(turn)) each.localFiles = files;
}

const isRefusal = (failure: unknown): boolean =>
  failure instanceof ApiError && failure.status !== undefined && failure.status < 500;

/** Owner of the session index that records a question; undefined: not recorded (`--no-remember`). */
export type Memory = SessionOwner | undefined;

/** The record of one question in the session index. Modules load after the first text is drawn. */
function createMemo({ env, now }: Context, { secrets }: Output, memory: Memory, message: string) {
  let done = memory === undefined;
  const warnings: string[] = [];
  return {
    warnings,
    /** Records the question once its session is known. A failure is a warning. */
    async record({ sessionId, messageId }: Turn): Promise<void> {
      if (done || memory === undefined || sessionId === null) return;
      done = true;
      const { recordQuestion, titleOf } = await import("./session/session-index.ts");
      const title = titleOf(secrets.redact(message));
      try {
        recordQuestion(env, memory, { sessionId, messageId, title, now: now() });
      } catch (error) {
        warnings.push(`the session is not remembered for --continue: ${messageOf(error)}`);
      }
    },
    /** The session that was made for the question is empty: `last` must not find it. */
    async forget(turn: Turn): Promise<void> {
      if (memory !== undefined && turn.sessionId !== null) {
        const { forgetSession } = await import("./session/session-index.ts");
        forgetSession(env, memory, turn.sessionId);
      }
      turn.sessionId = null;
    },
  };
}

/**
 * Asks one question and draws its answer, for one-shot chat, a batch and the conversation.
 * The context's signal stops the answer; it must be the client's own signal.
 * An error of the service is the ending's `failure`; throws only if the output fails.
 * Warnings are in the outcome and not yet written. `sink` gets each chunk before it
 * is drawn. The index of `memory` records the question once its session is known.
 */
export async function ask(
  context: Context,
  { output, client, memory }: { output: Output; client: Client; memory: Memory },
  question: Question,
  view: View,
  sink?: AnswerSink,
): Promise<Ending> {
  const { parameters, whole } = question;
  const turn = createTurn();
  turn.sessionId = parameters.sessionId ?? null;
  const spinner = createSpinner(output);
  const renderer = rendererOf(output, view, turn, spinner);
  if (view.format !== "silent") spinner.start("waiting for the answer");
  const checks = createChecks(client, parameters, view.facts);
  if (whole) checks.checkCaller();
  const memo = createMemo(context, output, memory, parameters.message);
  const pieces = sendQuestion(client, question, async (sessionId) => {
    turn.sessionId = sessionId;
    await memo.record(turn);
  });
  const { modelProvider, modelVersion } = parameters;
  return await runTurn(context, client, pieces, {
    turn,
    renderer,
    sink,
    requestedModel: [modelProvider, modelVersion].filter(Boolean).join("/") || null,
    async onPiece() {
      checks.follow(turn);
      // Without a message, the session may not exist.
      if (turn.messageId !== null) await memo.record(turn);
    },
    async complete(failure) {
      if (whole && parameters.sessionId === undefined && isRefusal(failure)) {
        await memo.forget(turn);
      }
      if (failure instanceof CliError && failure.exit === "incomplete") await memo.record(turn);
      await addLocalFiles(view, turn);
      const found = await checks.warnings(turn, failure);
      return [...memo.warnings, ...found];
    },
  });
}

/** Writes the result of a question that was not sent, in the formats that always end with a result. */
export async function writeUnasked(
  context: Context,
  output: Output,
  format: ChatFormat,
  failure: unknown,
): Promise<void> {
  if (format === "text" || format === "packets") return;
  const turn = createTurn();
  const plain = { turn, live: false, sources: false, all: false, show: new Set<never>() };
  const renderer = chatRenderers[format](output, createSpinner(output), plain);
  await endUnasked(context, failure, renderer, turn);
}
