import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { isLoopback } from "../../sandbox/guard.ts";
import { completionsUrl } from "../../sandbox/model/address.ts";
import type { SandboxOptions } from "../../sandbox/server.ts";

export interface AnswerFlags {
  llmUrl?: string;
  llmModel?: string;
  llmSystem?: string;
  play?: string[];
  playSpeed?: number;
}

/** What answers questions; neither: sentences quoted from the documents. */
export type Answers = Pick<SandboxOptions, "model" | "play">;

const modelKeyVariable = "KNOWCTL_SANDBOX_LLM_KEY";
/** A local server may load its model first. */
const defaultIdleSeconds = 300;
const mostIdleMs = 2 ** 31 - 1;

function usage(message: string, ...hints: string[]): CliError {
  return new CliError("usage", message, { hints });
}

function modelOf(context: Context, flags: AnswerFlags & { timeout?: number }): Answers["model"] {
  const { llmUrl, llmModel, llmSystem, timeout = defaultIdleSeconds } = flags;
  if (llmUrl === undefined) {
    if (llmModel === undefined && llmSystem === undefined) return undefined;
    throw usage(
      `${llmModel === undefined ? "--llm-system" : "--llm-model"} needs the server that answers`,
      "name it with --llm-url, for example --llm-url http://127.0.0.1:11434/v1",
    );
  }
  const url = completionsUrl(llmUrl);
  if (llmModel === undefined) {
    throw usage("--llm-url needs the name of a model", "name one of the server's with --llm-model");
  }
  return {
    url,
    model: llmModel,
    key: context.env[modelKeyVariable] || undefined,
    instructions: llmSystem,
    idleMs: Math.min(timeout * 1000, mostIdleMs),
  };
}

/** Reads what shall answer. Throws CliError `usage` for flags that do not go together. */
export function answersOf(context: Context, flags: AnswerFlags & { timeout?: number }): Answers {
  const { play, playSpeed } = flags;
  if (play !== undefined && flags.llmUrl !== undefined) {
    throw usage("--play and --llm-url both answer the questions", "give one of them");
  }
  if (play === undefined && playSpeed !== undefined) {
    throw usage("--play-speed needs something to play", "name it with --play");
  }
  const model = modelOf(context, flags);
  return {
    ...(model ? { model } : {}),
    ...(play
      ? { play: { paths: play.map((path) => resolve(context.cwd, path)), speed: playSpeed ?? 1 } }
      : {}),
  };
}

/** The model's server without its query, which may hold more than an address. */
export function describeAnswers({ model, play }: Answers): string {
  if (play) return `recordings, in turn or by "play:NAME" in the question`;
  if (!model) return "sentences quoted from the documents (no language model)";
  const key = model.key === undefined ? `no key, ${modelKeyVariable} is not set` : "with your key";
  return `${model.model} at ${model.url.origin}${model.url.pathname} (${key})`;
}

/** What is dangerous about it. */
export function answerWarnings({ model }: Answers): string[] {
  if (!model || model.url.protocol === "https:" || isLoopback(model.url.hostname)) return [];
  const what = model.key === undefined ? "questions and passages travel" : "your key travels";
  return [`${what} unencrypted to ${model.url.origin}`];
}
