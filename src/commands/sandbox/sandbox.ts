import { isAbsolute, join, resolve } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { dim } from "../../output/terminal/text.ts";
import { parseFaults } from "../../sandbox/http/fault-list.ts";
import { isLoopback } from "../../sandbox/http/guard.ts";
import { startSandbox } from "../../sandbox/http/server.ts";
import { machineOf } from "../config/files.ts";
import { createPlatform, openAddress } from "../chat/conversation/platform.ts";
import { openOutput } from "../connect.ts";
import { announce, keyVariable, publicKey } from "./announce.ts";
import { type AnswerFlags, answersOf, answerWarnings } from "./answers.ts";

export interface SandboxFlags extends GlobalFlags, AnswerFlags {
  port?: number;
  host?: string;
  data?: string;
  fault?: string;
  open?: boolean;
}

/** Fast enough for a reader, slow enough to make streaming visible. */
export const tokenDelayMs = 8;

function dataFolder(context: Context, flags: SandboxFlags): string {
  if (flags.data !== undefined) return resolve(context.cwd, flags.data);
  const base = context.env["XDG_DATA_HOME"];
  // By the XDG rules, a relative path is ignored.
  if (base && isAbsolute(base)) return join(base, "knowctl", "sandbox");
  return join(machineOf(context).home, ".local", "share", "knowctl", "sandbox");
}

function keyOf(context: Context, host: string): string {
  const own = context.env[keyVariable];
  if (own) return own;
  if (isLoopback(host)) return publicKey;
  throw new CliError(
    "usage",
    `--host ${host} gives other machines access, so the sandbox needs its own key`,
    {
      hints: [
        `set ${keyVariable} to a secret`,
        "or leave out --host to listen only on this machine",
      ],
    },
  );
}

/** Opens the page in the user's browser; without one, writes the address. */
async function openPage(context: Context, output: Output, url: string): Promise<void> {
  if (await openAddress(createPlatform(context.env), url)) return;
  await output.note(`No browser could be started; open ${url} yourself.`);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
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
  const output = openOutput(context, flags);
  const host = flags.host ?? "127.0.0.1";
  const key = keyOf(context, host);
  const ownKey = key !== publicKey;
  if (ownKey) output.secrets.add(key);
  const folder = dataFolder(context, flags);
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
  context.signal.throwIfAborted();
}
