import { spawn } from "node:child_process";
import { createClient } from "../../api/client.ts";
import type { Config } from "../../config/load.ts";
import type { Context } from "../../context.ts";
import { ApiError, codeOf, messageOf } from "../../errors.ts";
import { whileWaiting } from "../../output/terminal/spinner.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { NotifyTarget, Recipient } from "./targets.ts";

const longestMs = 10_000;
const mostErrorChars = 500;

/** Variables with keys of the service: a notified command needs none. */
const keyVariables = ["KNOWCTL_API_KEY", "KNOWCTL_ACCESS_TOKEN", "KNOWCTL_CLIENT_KEY_PASSPHRASE"];

/** The name of a target in messages: an origin or a program, as what follows may be a token. */
function nameOf(target: NotifyTarget): string {
  if (target.kind === "url") return target.url.origin;
  return `command ${target.command[0]?.trim().split(/\s/, 1)[0] ?? ""}`;
}

/**
 * Sends one POST, without a key of the service and without a retry; a redirect is not followed. It is
 * sent after an interrupt too. Throws ApiError.
 */
async function post(
  context: Context,
  { secrets }: Output,
  url: URL,
  body: string,
  route: ReturnType<Config["proxyTo"]>,
): Promise<void> {
  const client = createClient({
    baseUrl: url.origin,
    dialect: "standard",
    accessToken: "",
    apiKey: "",
    secrets,
    ...route,
    connections: 1,
    clock: context,
    signal: context.signal,
  });
  try {
    const answer = await client.raw({
      what: "notify",
      policy: "create",
      method: "POST",
      path: url.pathname + url.search,
      key: "apiKey",
      body: Buffer.from(body),
      contentType: "application/json",
      detachedMs: longestMs,
    });
    await answer.body.return(undefined);
  } finally {
    await client.close();
  }
}

/** Runs a command with the message on its stdin. Its output is dropped: stdout is data of this tool. */
function runCommand(
  { env, cwd }: Pick<Context, "env" | "cwd">,
  { command: [program = "", ...args], isShell }: NotifyTarget & { kind: "command" },
  body: string,
): Promise<void> {
  const own = Object.entries(env).filter(([name]) => !keyVariables.includes(name));
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: Object.fromEntries(own),
      shell: isShell,
      stdio: ["pipe", "ignore", "pipe"],
      timeout: longestMs,
      killSignal: "SIGKILL",
      windowsHide: true,
    });
    let said = "";
    child.stderr?.on("data", (part: Buffer) => {
      if (said.length < mostErrorChars) said += part.toString();
    });
    // A program that does not read its stdin is no failure.
    child.stdin?.on("error", () => {});
    child.on("error", reject);
    // Not `close`: a program that it started may keep stderr open.
    child.on("exit", (code, signal) => {
      child.stderr?.destroy();
      if (code === 0) return resolve();
      const how = signal === null ? `exit code ${code}` : `ended by ${signal} after 10 s`;
      const text = said.slice(0, mostErrorChars).trim().split("\n").join(" / ");
      reject(new Error(text === "" ? how : `${how}: ${text}`));
    });
    child.stdin?.end(`${body}\n`);
  });
}

/** Why a notification failed, without its address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return codeOf(error) ?? messageOf(error);
  const { status, code, exit } = error;
  if (status === undefined) return code ?? exit;
  return status >= 300 && status < 400
    ? `${status}, a redirect, which is not followed`
    : `status ${status}`;
}

/**
 * Sends `message` to all recipients at the same time. A failure is a warning: it changes nothing of how
 * the run ended.
 */
export async function notifyAll(
  context: Context,
  output: Output,
  recipients: readonly Recipient[],
  message: object,
  proxyTo: Config["proxyTo"],
): Promise<void> {
  const body = JSON.stringify(output.secrets.redactAll(message));
  const tell = async ({ target }: Recipient): Promise<string | undefined> => {
    try {
      if (target.kind === "command") await runCommand(context, target, body);
      else await post(context, output, target.url, body, proxyTo(target.url));
      return undefined;
    } catch (error) {
      return `no notification to ${nameOf(target)}: ${reasonOf(error)}`;
    }
  };
  const label = `notifying ${recipients.map(({ target }) => nameOf(target)).join(", ")}`;
  const failures = await whileWaiting(output, label, () => Promise.all(recipients.map(tell)));
  for (const failure of failures) if (failure !== undefined) await output.warn(failure);
}
