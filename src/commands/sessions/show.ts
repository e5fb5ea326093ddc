import { statSync } from "node:fs";
import { resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { RenderMode } from "../../output/chat/markdown.ts";
import { sessionMarkdown } from "../../output/chat/stored/session-markdown.ts";
import { sessionRecord } from "../../output/chat/stored/session-record.ts";
import { branchesOf, withParallelAnswers } from "../../output/chat/stored/stored.ts";
import { writeTranscript } from "../../output/chat/stored/transcript.ts";
import { neutraliseJson } from "../../output/terminal/neutralise.ts";
import { checkFormat, writeRecord } from "../../output/formats/formats.ts";
import { isGiven } from "../chat/options/flag-rules.ts";
import { nameOf, readSession, withPlace } from "./place.ts";

export interface SessionsShowOptions extends GlobalFlags {
  /** Show the messages of the other branches, too. */
  all?: boolean;
  /** False for `--no-sources`. */
  sources?: boolean;
  render?: RenderMode;
}

export interface SessionsExportOptions extends GlobalFlags {
  file?: string;
  all?: boolean;
}

/** The flags without a format that stands for the text itself; undefined where a record is asked for. */
function isText(options: GlobalFlags, words: readonly string[]): boolean {
  const { output, json, fields, jq } = options;
  if (json === true || fields !== undefined || jq !== undefined) return false;
  if (output === undefined || words.includes(output)) return true;
  // KNOWCTL_OUTPUT=table is meant for the lists.
  return output === "table" && options.flagSources?.["output"] === "env";
}

/** Refuses flags that the format leaves without effect. Throws CliError `usage`. */
function checkEffect(options: GlobalFlags, asText: boolean): void {
  const textOnly = asText
    ? undefined
    : ["render", "sources"].find((name) => isGiven(options, name));
  if (textOnly === undefined) return;
  const flag = textOnly === "sources" ? "--no-sources" : "--render";
  throw new CliError("usage", `${flag} counts only for text`, {
    hints: ["leave it out, or leave out --output, --json, --fields and --jq"],
  });
}

/**
 * `sessions show ID`: the conversation for reading, or with --output one record.
 * The current branch of the message tree; the others are counted, or shown with --all.
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
    const session = await readSession(place, given);
    const branches = withParallelAnswers(session, branchesOf(session));
    const name = nameOf(place, session);
    const all = options.all === true;
    if (!text) {
      return await writeRecord(place.output, options, sessionRecord(session, branches, name, all));
    }
    await writeTranscript(place.output, session, branches, {
      name,
      now: () => context.now(),
      all,
      sources: options.sources !== false,
      render: options.render ?? place.config.chat.render ?? "auto",
    });
  });
}

/** The file to write, or undefined for stdout. Throws CliError `usage`. */
function targetOf(context: Context, file: string | undefined): string | undefined {
  if (file === undefined || file === "-" || file === "stdout") return undefined;
  const path = resolve(context.cwd, file);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `--file: ${file} is a folder`, { hints: ["name a file"] });
  }
  if (!statSync(resolve(path, ".."), { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `--file: the folder of ${file} does not exist`);
  }
  return path;
}

/** `sessions export ID`: the conversation as Markdown, or with --output json as one object. */
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
    throw new CliError("usage", "--file takes Markdown or json", {
      hints: ["leave --file out and redirect the output"],
    });
  }
  const [given = ""] = args;
  await withPlace(context, options, async (place) => {
    const { output } = place;
    const session = await readSession(place, given);
    const branches = withParallelAnswers(session, branchesOf(session));
    const name = nameOf(place, session);
    const all = options.all === true;
    const record = () => sessionRecord(session, branches, name, all);
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
