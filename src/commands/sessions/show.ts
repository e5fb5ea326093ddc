import { resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import type { StateFlag } from "../files-in-state.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { RenderMode } from "../../output/chat/markdown.ts";
import { sessionMarkdown, sessionRecord } from "../../output/chat/stored/session-record.ts";
import { citedIds } from "../../output/chat/sources.ts";
import {
  branchesOf,
  turnOfStored,
  withParallelAnswers,
  type LocalFiles,
} from "../../output/chat/stored/stored.ts";
import type { StoredSession } from "../../api/session-schemas.ts";
import { writeTranscript } from "../../output/chat/stored/transcript.ts";
import { neutraliseJson } from "../../output/terminal/neutralise.ts";
import { checkFormat, writeRecord } from "../../output/formats/formats.ts";
import { isGiven } from "../chat/options.ts";
import { targetFile } from "../chat/save.ts";
import { statsOf } from "../stats-of.ts";
import { whileAsking } from "../connect.ts";
import { withPlace, type Place } from "./place.ts";
import { getSession } from "../../api/sessions.ts";
import { findSession } from "../chat/session/find-session.ts";
import { indexedSession, titleOf } from "../chat/session/session-index.ts";

export interface SessionsShowOptions extends GlobalFlags, StateFlag {
  /** Also show the messages of other branches. */
  all?: boolean;
  /** False for `--no-sources`. */
  sources?: boolean;
  render?: RenderMode;
}

export interface SessionsExportOptions extends GlobalFlags {
  file?: string;
  all?: boolean;
}

/** Whether the flags select the text form, not a record. `textFormats` are the names of the text form. */
function isText(options: GlobalFlags, textFormats: readonly string[]): boolean {
  const { output, json, fields, jq } = options;
  if (json === true || fields !== undefined || jq !== undefined) return false;
  if (output === undefined || textFormats.includes(output)) return true;
  // KNOWCTL_OUTPUT=table applies to lists only.
  return output === "table" && options.flagSources?.["output"] === "env";
}

/** Refuses flags that have no effect on the format. Throws CliError `usage`. */
function checkEffect(options: GlobalFlags, asText: boolean): void {
  const textOnly = asText
    ? undefined
    : ["render", "sources"].find((name) => isGiven(options, name));
  if (textOnly === undefined) return;
  const flag = textOnly === "sources" ? "--no-sources" : "--render";
  throw new CliError("usage", `${flag} applies only to text`, {
    hints: ["leave it out, or leave out --output, --json, --fields and --jq"],
  });
}

/** Local files of all documents that the answers cite. */
async function localFilesOf(
  context: Context,
  options: SessionsShowOptions,
  place: Place,
  session: StoredSession,
): Promise<LocalFiles> {
  const answers = session.messages.filter(({ message_type }) => message_type === "assistant");
  const ids = answers.flatMap((message) => citedIds(turnOfStored(session, message)));
  if (ids.length === 0) return new Map();
  const { findFiles } = await import("../chat/local-files.ts");
  return await findFiles(context, options, place, [...new Set(ids)]);
}

/** The display name of a session: its name, else its first question. */
function nameOf(place: Place, session: StoredSession): string {
  const id = session.chat_session_id;
  const question = session.messages.find(({ message_type }) => message_type === "user");
  return (
    session.description?.trim() ||
    indexedSession(place.env, place.owner, id)?.title ||
    titleOf(question?.message ?? "") ||
    id
  );
}

/** The session of an argument, with its branches and its display name. */
async function readBranches(place: Place, given: string) {
  const session = await whileAsking(place, async () =>
    getSession(place.client, await findSession(place, given)),
  );
  const branches = withParallelAnswers(session, branchesOf(session));
  return { session, branches, name: nameOf(place, session) };
}

/**
 * `sessions show ID`: shows the conversation as text, or with --output as one record. Shows
 * the current branch of the message tree; counts the others, or shows them with --all.
 */
export async function sessionsShow(
  context: Context,
  args: string[],
  options: SessionsShowOptions,
): Promise<void> {
  const text = isText(options, ["text"]);
  if (!text) checkFormat(options);
  checkEffect(options, text);
  const [given = ""] = args;
  await withPlace(context, options, async (place) => {
    const { session, branches, name } = await readBranches(place, given);
    const all = options.all === true;
    const localFiles = await localFilesOf(context, options, place, session);
    if (!text) {
      const record = sessionRecord(session, branches, name, { all, localFiles });
      return await writeRecord(place.output, options, record);
    }
    await writeTranscript(place.output, session, branches, {
      name,
      now: () => context.now(),
      all,
      sources: options.sources !== false,
      render: options.render ?? place.config.chat.render ?? "auto",
      localFiles,
    });
  });
}

/** The file to write, or undefined for stdout. Throws CliError `usage`. */
function targetOf({ cwd }: Context, file: string | undefined): string | undefined {
  if (file === undefined || file === "-" || file === "stdout") return undefined;
  const path = targetFile(resolve(cwd, file), file, "--file: ");
  if (statsOf(path)?.isFile() !== false) return path;
  throw new CliError("usage", `--file: ${file} is not a regular file`, { hints: ["name a file"] });
}

/** `sessions export ID`: writes the conversation as Markdown, or with --output json as one object. */
export async function sessionsExport(
  context: Context,
  args: string[],
  options: SessionsExportOptions,
): Promise<void> {
  const asMarkdown = isText(options, ["text", "markdown"]);
  if (!asMarkdown) checkFormat(options);
  checkEffect(options, asMarkdown);
  const path = targetOf(context, options.file);
  if (path !== undefined && !asMarkdown && options.output !== "json" && options.json !== true) {
    throw new CliError("usage", "--file supports only Markdown and json", {
      hints: ["leave out --file and redirect the output"],
    });
  }
  const [given = ""] = args;
  await withPlace(context, options, async (place) => {
    const { output } = place;
    const { session, branches, name } = await readBranches(place, given);
    const all = options.all === true;
    const record = () => sessionRecord(session, branches, name, { all });
    if (path === undefined) {
      if (!asMarkdown) return await writeRecord(output, options, record());
      for (const part of sessionMarkdown(session, branches, name, all)) await output.write(part);
      return;
    }
    const text = asMarkdown
      ? [...sessionMarkdown(session, branches, name, all)].join("")
      : `${neutraliseJson(JSON.stringify(record(), null, 2))}\n`;
    writeWhole(path, output.secrets.redact(text));
    await output.note(`wrote ${options.file}`);
  });
}
