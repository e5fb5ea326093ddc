import { createHash } from "node:crypto";
import { type ChatOptions, checkOptions, parametersOf, switchOf } from "../options/options.ts";
import type { ChatParameters } from "../../../api/chat/chat.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { Connected } from "../../connect.ts";
import type { View } from "../ask.ts";
import type { Question } from "../send.ts";
import { findSession, type SessionPlace } from "../session/find-session.ts";
import type { BatchLine } from "./input.ts";

/** What all questions of a run share. */
export interface Run {
  context: Context;
  connected: Connected & { output: Output };
  options: ChatOptions;
  gate: Gate;
  files: ChatParameters["fileDescriptors"];
  sessionId: string | undefined;
  /** Where the session of a line is looked up. */
  place: SessionPlace;
  view: View;
  /** Aborts the questions in flight. */
  abortAll(reason: unknown): void;
}

/** Refuses arguments that a batch does not support. Throws CliError `usage`. */
export function checkBatch(args: readonly string[], options: ChatOptions): void {
  checkOptions(options);
  const usage = (message: string, hint: string): CliError =>
    new CliError("usage", message, { hints: [hint] });
  if (args.length > 0) {
    throw usage("--batch reads its questions from the file", "leave out the message");
  }
  const format = options.flagSources?.["output"] === "flag" ? options.output : undefined;
  if (format !== undefined && format !== "ndjson") {
    throw usage(`--batch writes ndjson, not ${format}`, "leave out --output");
  }
}

/** The flags, with the overrides of one line. */
function optionsFor(options: ChatOptions, line: BatchLine): ChatOptions {
  const merged: ChatOptions = { ...options };
  const set = <Name extends keyof ChatOptions>(name: Name, value: ChatOptions[Name]): void => {
    if (value !== undefined) merged[name] = value;
  };
  if (line.agent !== undefined || line.project !== undefined) {
    delete merged.session;
    delete merged.continue;
  }
  set("agent", line.agent);
  set("project", line.project);
  set("session", line.session);
  set("parent", line.parent);
  if (line.model !== undefined) {
    delete merged.provider;
    delete merged.modelVersion;
  }
  set("model", line.model);
  set("temperature", line.temperature);
  set("forceTool", line.forceTool);
  set("sourceType", line.sourceTypes);
  set("documentSet", line.documentSets);
  set("since", line.since);
  set("deepResearch", line.deepResearch);
  if (line.tags)
    merged.filterTag = Object.entries(line.tags).map(([key, value]) => `${key}=${value}`);
  if (line.tools) Object.assign(merged, { tool: line.tools, tools: line.tools.length > 0 });
  return merged;
}

/** Refuses a flag that has no effect because the line names a session. Throws CliError `usage`. */
function checkSession(options: ChatOptions, line: BatchLine): void {
  if (line.session === undefined) return;
  const flag = (["agent", "project"] as const).find(
    (name) => options.flagSources?.[name] === "flag",
  );
  if (flag === undefined) return;
  throw new CliError(
    "usage",
    `--${flag} applies only to a new session, but this line names a session`,
    {
      hints: [`leave out --${flag}, or the session`],
    },
  );
}

/** The session that the flags or the line's own members name, before it is looked up. */
export function sessionNamed(
  { sessionId }: Run,
  { session, agent, project }: BatchLine,
): string | undefined {
  return session ?? ((agent ?? project) === undefined ? sessionId : undefined);
}

/**
 * Digest of what a line asks of which service, without its id. Another text, flag or setting that
 * shapes the request is another question. Undefined for a line that cannot be asked.
 */
export function questionDigest(run: Run, line: BatchLine): string | undefined {
  const { connected, options, context } = run;
  const { client, config, connection } = connected;
  const own = optionsFor(options, line);
  try {
    const parameters = parametersOf(own, config.chat, client.dialect, context.now());
    const asked = {
      ...parameters,
      baseUrl: connection.baseUrl,
      message: line.message,
      sessionId: sessionNamed(run, line),
      // As written: `7d` is another time in each run.
      timeCutoff: own.since ?? config.chat.since,
      fileIds: options.fileId,
    };
    return createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, 16);
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Builds the question of one line; its members override the flags. Throws `usage`, and as findSession. */
export async function questionOf(run: Run, line: BatchLine): Promise<Question> {
  const { connected, options, context } = run;
  const settings = connected.config.chat;
  checkSession(options, line);
  const merged = optionsFor(options, line);
  const startsNew = line.agent !== undefined || line.project !== undefined;
  const base = parametersOf(merged, settings, connected.client.dialect, context.now());
  const named = line.session === undefined ? undefined : await findSession(run.place, line.session);
  const sessionId = named ?? (startsNew ? undefined : run.sessionId);
  const parameters: ChatParameters = {
    ...base,
    message: line.message,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(run.files?.length ? { fileDescriptors: run.files } : {}),
  };
  const whole = !switchOf(options, "stream", settings.stream);
  return { parameters, whole, limits: { lineBytes: options.maxPacket, gate: run.gate } };
}
