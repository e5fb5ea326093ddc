import { isAbsolute, join, resolve } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { dim, bold, link } from "../../output/terminal/text.ts";
import { parseFaults } from "../../sandbox/http/faults.ts";
import { isLoopback } from "../../sandbox/http/guard.ts";
import { startSandbox, type Sandbox } from "../../sandbox/http/server.ts";
import { untilAborted } from "../concurrency.ts";
import { createPlatform, openAddress } from "../chat/conversation/platform.ts";
import { defaultHost, publicKey, type SandboxOptions } from "../../sandbox/options.ts";
import { createConnector } from "../../api/transport/connector.ts";
import { proxyFor } from "../../api/transport/tunnel.ts";
import { environmentLayer, flagLayer } from "../../config/values/given.ts";
import { mergeLayers } from "../../config/values/layers.ts";
import { proxyOf, tlsFilesOf } from "../../config/values/connection.ts";
import { completionsUrl } from "../../sandbox/chat/model/client.ts";
import { readCertificates } from "../certificates.ts";
import { proxySecrets } from "../secrets.ts";
import { createMachine } from "../../config/find/folders.ts";

interface AnswerFlags {
  llmUrl?: string;
  llmModel?: string;
  llmSystem?: string;
  play?: string[];
  playSpeed?: number;
}

type SandboxAnswerFlags = AnswerFlags & GlobalFlags;

/** The source of answers; without one, answers are sentences from the documents. */
type Answers = Pick<SandboxOptions, "model" | "play">;

const modelKeyVariable = "KNOWCTL_SANDBOX_LLM_KEY";
/** Long, because a local server may have to load its model first. */
const defaultIdleSeconds = 300;
const maxIdleMs = 2 ** 31 - 1;

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
  const files = await tlsFilesOf({ merged, machine: createMachine(context), warn });
  const isHttps = url.protocol === "https:";
  const { hostname } = url;
  const found = proxyOf({ isHttps, hostname }, merged, context.env);
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
    throw usageError(
      `${llmModel === undefined ? "--llm-system" : "--llm-model"} needs a model server`,
      "set it with --llm-url, for example --llm-url http://127.0.0.1:11434/v1",
    );
  }
  const url = completionsUrl(llmUrl);
  if (llmModel === undefined) {
    throw usageError(
      "--llm-url needs the name of a model",
      "set a model of the server with --llm-model",
    );
  }
  const key = context.env[modelKeyVariable] || undefined;
  if (key !== undefined && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw usageError(
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
async function answersOf(
  context: Context,
  flags: SandboxAnswerFlags,
  output: Output,
): Promise<Answers> {
  const { play, playSpeed } = flags;
  if (play !== undefined && flags.llmUrl !== undefined) {
    throw usageError("--play and --llm-url exclude each other", "use one of them");
  }
  if (play === undefined && playSpeed !== undefined) {
    throw usageError("--play-speed needs a recording", "set it with --play");
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
function describeAnswers({ model, play }: Answers): string {
  if (play) return `recordings, in turn or by "play:NAME" in the question`;
  if (!model) return "sentences quoted from the documents (no language model)";
  const key = model.key === undefined ? `no key, ${modelKeyVariable} is not set` : "with your key";
  return `${model.model} at ${model.url.origin}${model.url.pathname} (${key})`;
}

/** Warnings about unencrypted traffic to the model's server. */
function answerWarnings({ model }: Answers): string[] {
  if (!model || model.url.protocol === "https:" || isLoopback(model.url.hostname)) return [];
  const what = model.key === undefined ? "questions and passages are sent" : "your key is sent";
  return [`${what} unencrypted to ${model.url.origin}`];
}

const keyVariable = "KNOWCTL_SANDBOX_KEY";

interface Facts {
  folder: string;
  dialect: string;
  ownKey: boolean;
  faults: string | undefined;
  answers: Answers;
}

/** Writes the sandbox's address, settings and a first command; for a script, the address to stdout. */
async function announce(output: Output, { url }: Sandbox, facts: Facts): Promise<void> {
  const { folder, dialect, ownKey, faults, answers } = facts;
  const key = ownKey ? `"$${keyVariable}"` : publicKey;
  const flags = dialect === "standard" ? "" : ` --dialect ${dialect}`;
  // A script with --port 0 reads the address here.
  if (!output.isTerminal) await output.line(url);
  await output.note(bold("knowctl sandbox"), ": a local service with the same interface");
  await output.note(
    "  address  ",
    link(url, url),
    dim("  (open it in a browser: questions, documents, connectors, faults)"),
  );
  await output.note("  key      ", ownKey ? `the value of ${keyVariable}` : publicKey);
  await output.note("  data     ", folder);
  await output.note("  dialect  ", dialect);
  await output.note("  answers  ", describeAnswers(answers));
  if (faults !== undefined) await output.note("  faults   ", faults);
  await output.note("Try it in another terminal (Ctrl-C here ends the sandbox):");
  await output.note(`  KNOWCTL_API_KEY=${key} knowctl connectors list --base-url ${url}${flags}`);
  await output.flush();
}

export interface SandboxFlags extends GlobalFlags, AnswerFlags {
  port?: number;
  host?: string;
  data?: string;
  fault?: string;
  open?: boolean;
}

/** Fast enough for a reader, slow enough to make streaming visible. */
export const tokenDelayMs = 8;

/** The folder below the user's data folder for the documents of `sandbox` or `try`. */
export function dataFolder(context: Context, name: string): string {
  const base = context.env["XDG_DATA_HOME"];
  // By the XDG rules, a relative path is ignored.
  const isUsable = base !== undefined && isAbsolute(base);
  return join(
    isUsable ? base : join(createMachine(context).home, ".local", "share"),
    "knowctl",
    name,
  );
}

function keyOf(context: Context, host: string): string {
  const own = context.env[keyVariable];
  if (own) return own;
  if (isLoopback(host)) return publicKey;
  throw usageError(
    `--host ${host} gives other machines access, so the sandbox needs its own key`,
    `set ${keyVariable} to a secret`,
    "or leave out --host to listen only on this machine",
  );
}

/** Opens the page in the user's browser; without one, writes the address. */
async function openPage(context: Context, output: Output, url: string): Promise<void> {
  if (await openAddress(createPlatform(context.env), url)) return;
  await output.note(`No browser could be started; open ${url} yourself.`);
}

/**
 * Runs the local service until a signal arrives, then closes it and exits with the signal's
 * code. Throws CliError `usage` for a bad fault list, a host without a key, an unusable model
 * server or unusable recordings; `local` if the port is in use or the folder is unusable.
 */
export async function runSandbox(
  context: Context,
  _args: string[],
  flags: SandboxFlags,
): Promise<void> {
  const output = createOutput(context, flags);
  const host = flags.host ?? defaultHost;
  const key = keyOf(context, host);
  const ownKey = key !== publicKey;
  if (ownKey) output.secrets.add(key);
  const { cwd } = context;
  const folder =
    flags.data === undefined ? dataFolder(context, "sandbox") : resolve(cwd, flags.data);
  const dialect = flags.dialect ?? "standard";
  const answers = await answersOf(context, flags, output);
  if (answers.model?.key !== undefined) output.secrets.add(answers.model.key);
  const sandbox = await startSandbox({
    port: flags.port ?? 8787,
    host,
    dataFolder: folder,
    key,
    dialect,
    ...(flags.fault === undefined ? {} : { faults: parseFaults(flags.fault) }),
    clock: context,
    tokenDelayMs,
    ledger: "off",
    ...answers,
    fileLooks: 2,
    ...(output.verbose
      ? { onLog: (line: string) => void output.problem(dim(line)).catch(() => {}) }
      : {}),
  });
  try {
    if (!isLoopback(host)) {
      await output.warn(
        `${host} can be reached from other machines; keys and texts are sent unencrypted`,
      );
    }
    for (const warning of answerWarnings(answers)) await output.warn(warning);
    await announce(output, sandbox, { folder, dialect, ownKey, faults: flags.fault, answers });
    if (flags.open) await openPage(context, output, sandbox.url);
    await untilAborted(context.signal);
  } finally {
    await sandbox.close();
  }
}
