import type { ChatParameters } from "../../api/chat.ts";
import type { Client } from "../../api/client.ts";
import type { ChatSettings } from "../../config/schema.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { createTurn } from "../../output/chat/answer.ts";
import { chatRenderers, type ChatFormat, type RenderOptions } from "../../output/chat/render.ts";
import { warningsOf } from "../../output/chat/warnings.ts";
import type { Output } from "../../output/output.ts";
import { createSpinner } from "../../output/spinner.ts";
import { createRecorder, recorded, type Memory } from "./remember.ts";
import { shownOf, switchOf, type ChatOptions } from "./options.ts";
import { sendQuestion, type Question } from "./send.ts";
import { conclude, runTurn, type Ending, type Keeper } from "./turn.ts";

export type { Question } from "./send.ts";

/** How answers are drawn. */
export interface View extends Omit<RenderOptions, "turn"> {
  format: ChatFormat;
}

/** The view that flags and configuration ask for. Throws CliError `usage`. */
export function viewOf(
  options: ChatOptions,
  settings: ChatSettings,
  format: ChatFormat,
  output: Output,
): View {
  return {
    format,
    live: output.isTerminal || (options.live ?? settings.live ?? false),
    sources: switchOf(options, "sources", settings.sources),
    ...shownOf(options.show, settings.show),
  };
}

function askedFilters(parameters: ChatParameters): boolean {
  const { sourceTypes, documentSets, tags, timeCutoff } = parameters;
  return timeCutoff !== undefined || [sourceTypes, documentSets, tags].some((list) => list?.length);
}

function requestedModel({ modelProvider, modelVersion }: ChatParameters): string | null {
  return [modelProvider, modelVersion].filter(Boolean).join("/") || null;
}

/**
 * Asks one question and draws its answer; one-shot chat and the conversation
 * both ask with it. The context's signal, which must be the client's own, stops
 * the answer. Whatever the service does wrong is the ending's `failure`; only a
 * failing output throws. Warnings are in the outcome and not yet written.
 * `keeper` gets what comes before it is drawn; the index of `memory` takes the
 * question as soon as the service has named its session.
 */
export async function ask(
  context: Context,
  { output, client, memory }: { output: Output; client: Client; memory: Memory },
  question: Question,
  { format, ...view }: View,
  keeper?: Keeper,
): Promise<Ending> {
  const { parameters } = question;
  const turn = createTurn();
  turn.sessionId = parameters.sessionId ?? null;
  const spinner = createSpinner(output);
  const renderer = chatRenderers[format](output, spinner, { turn, ...view });
  spinner.start("waiting for the answer");
  const record = createRecorder(context, output, memory, parameters.message);
  const batches = recorded(
    sendQuestion(client, question, turn, () => record(turn)),
    turn,
    record,
  );
  const end = await runTurn(context, batches, { turn, renderer, keeper });
  const isLost = end.failure instanceof CliError && end.failure.exit === "incomplete";
  if (isLost) await record(turn);
  const warnings = warningsOf(turn, {
    filters: askedFilters(parameters),
    forcedToolId: parameters.forcedToolId,
  });
  return await conclude(context, client, renderer, {
    ...end,
    turn,
    keeper,
    warnings: end.failure === undefined ? warnings : [],
    requestedModel: requestedModel(parameters),
  });
}
