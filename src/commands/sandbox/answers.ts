import type { SandboxOptions } from "../../sandbox/options.ts";
import { resolve } from "node:path";
import { createConnector } from "../../api/transport/connector.ts";
import { proxyFor } from "../../api/transport/proxy.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { environmentLayer, flagLayer } from "../../config/values/given.ts";
import { mergeLayers } from "../../config/values/layers.ts";
import { givenProxy, proxyOf, tlsFilesOf } from "../../config/values/network.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { isLoopback } from "../../sandbox/http/guard.ts";
import { completionsUrl } from "../../sandbox/chat/model/address.ts";
import { readCertificates } from "../certificates.ts";
import { machineOf } from "../config/files.ts";
import { proxySecrets } from "../proxy-secrets.ts";

export interface AnswerFlags {
  llmUrl?: string;
  llmModel?: string;
  llmSystem?: string;
  play?: string[];
  playSpeed?: number;
}

type SandboxAnswerFlags = AnswerFlags & GlobalFlags;

/** The source of answers; without one, answers are sentences from the documents. */
export type Answers = Pick<SandboxOptions, "model" | "play">;

const modelKeyVariable = "KNOWCTL_SANDBOX_LLM_KEY";
/** Long, because a local server may have to load its model first. */
const defaultIdleSeconds = 300;
const maxIdleMs = 2 ** 31 - 1;

function usage(message: string, ...hints: string[]): CliError {
  return new CliError("usage", message, { hints });
}

/**
 * Returns the function that opens connections to the model's server, if a flag or variable
 * sets a proxy or certificates; same rules as for a service. Ignores the profile's proxy,
 * which is for its service.
 */
async function connectTo(
  url: URL,
  context: Context,
  flags: GlobalFlags,
  output: Output,
): Promise<NonNullable<Answers["model"]>["connect"]> {
  const merged = mergeLayers([
    environmentLayer(context.env, context.cwd),
    flagLayer(flags, context.cwd),
  ]);
  const warn = (message: string): void => void output.warn(message).catch(() => {});
  const files = await tlsFilesOf({ merged, machine: machineOf(context), warn });
  const isHttps = url.protocol === "https:";
  const { hostname } = url;
  const found = proxyOf({ isHttps, hostname }, givenProxy(merged), context.env);
  for (const secret of proxySecrets(found.proxy)) output.secrets.add(secret);
  const proxy = proxyFor(url.origin, found.proxy, found.noProxy);
  if (!proxy && files.caFile === undefined && files.clientCert === undefined) return undefined;
  const certificates = await readCertificates(files, context, warn);
  const { connect } = await createConnector({ proxy, secrets: output.secrets, ...certificates });
  const target = {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    protocol: url.protocol,
    port: url.port || (isHttps ? "443" : "80"),
  };
  return (opened) => connect(target, opened);
}

async function modelOf(
  context: Context,
  flags: SandboxAnswerFlags,
  output: Output,
): Promise<Answers["model"]> {
  const { llmUrl, llmModel, llmSystem, timeout = defaultIdleSeconds } = flags;
  if (llmUrl === undefined) {
    if (llmModel === undefined && llmSystem === undefined) return undefined;
    throw usage(
      `${llmModel === undefined ? "--llm-system" : "--llm-model"} needs a model server`,
      "set it with --llm-url, for example --llm-url http://127.0.0.1:11434/v1",
    );
  }
  const url = completionsUrl(llmUrl);
  if (llmModel === undefined) {
    throw usage(
      "--llm-url needs the name of a model",
      "set a model of the server with --llm-model",
    );
  }
  const key = context.env[modelKeyVariable] || undefined;
  if (key !== undefined && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw usage(
      `--llm-url: the key in ${modelKeyVariable} is not sent to ${url.host} over plain http`,
      `use https://, or unset ${modelKeyVariable} if the server needs no key`,
    );
  }
  return {
    url,
    model: llmModel,
    key,
    instructions: llmSystem,
    connect: await connectTo(url, context, flags, output),
    idleMs: Math.min(timeout * 1000, maxIdleMs),
  };
}

/**
 * Reads the source of answers from the flags. Throws CliError `usage` for flags that exclude
 * each other, and the errors of a connection's configuration.
 */
export async function answersOf(
  context: Context,
  flags: SandboxAnswerFlags,
  output: Output,
): Promise<Answers> {
  const { play, playSpeed } = flags;
  if (play !== undefined && flags.llmUrl !== undefined) {
    throw usage("--play and --llm-url exclude each other", "use one of them");
  }
  if (play === undefined && playSpeed !== undefined) {
    throw usage("--play-speed needs a recording", "set it with --play");
  }
  const model = await modelOf(context, flags, output);
  return {
    ...(model ? { model } : {}),
    ...(play
      ? { play: { paths: play.map((path) => resolve(context.cwd, path)), speed: playSpeed ?? 1 } }
      : {}),
  };
}

/** Describes the source of answers. Leaves out the URL's query, which may hold secrets. */
export function describeAnswers({ model, play }: Answers): string {
  if (play) return `recordings, in turn or by "play:NAME" in the question`;
  if (!model) return "sentences quoted from the documents (no language model)";
  const key = model.key === undefined ? `no key, ${modelKeyVariable} is not set` : "with your key";
  return `${model.model} at ${model.url.origin}${model.url.pathname} (${key})`;
}

/** Warnings about unencrypted traffic to the model's server. */
export function answerWarnings({ model }: Answers): string[] {
  if (!model || model.url.protocol === "https:" || isLoopback(model.url.hostname)) return [];
  const what = model.key === undefined ? "questions and passages are sent" : "your key is sent";
  return [`${what} unencrypted to ${model.url.origin}`];
}
