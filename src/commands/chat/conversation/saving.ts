import { expandPath } from "../../../config/find/folders.ts";
import { CliError } from "../../../errors.ts";
import { readerText } from "../../../output/chat/sources.ts";
import { sourceLines } from "../../../output/chat/source-lines.ts";
import { neutralise, neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { plainText } from "../../../output/terminal/text.ts";
import { machineOf } from "../../config/files.ts";
import { statsOf } from "../../stats-of.ts";
import { targetFile } from "../save.ts";
import type { Exchange, Talk } from "./talk.ts";

/** Resolves a path typed in a conversation. No shell has expanded `~`, the home folder. */
export function typedPath(talk: Pick<Talk, "context">, path: string): string {
  return expandPath(path, talk.context.cwd, machineOf(talk.context).home);
}

function sourcesOf({ ending }: Exchange): string {
  const lines = sourceLines(ending.turn, 0).map((line) => plainText(line).trim());
  return lines.length === 0 ? "" : `\n${lines.map((line) => `- ${line}`).join("\n")}\n`;
}

/** Lines of a question as a Markdown quote. */
function quoted(text: string): string {
  const lines = neutralise(text).split("\n");
  return lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
}

/** An answer as Markdown, which is the service's own format. */
export function answerMarkdown({ ending }: Exchange): string {
  return `${neutralise(readerText(ending.turn)).trimEnd()}\n`;
}

/** The whole conversation as Markdown. */
export function talkMarkdown(talk: Talk): string {
  const head = `# Conversation\n\nSession ${neutraliseLine(talk.sessionId ?? "unknown")}\n`;
  const parts = talk.exchanges.map((exchange) => {
    const { status } = exchange.ending.outcome;
    const mark = status === "ok" ? "" : `\n*(${status})*\n`;
    return [
      `## ${quoted(exchange.parameters.message).split("\n")[0]?.replace(/^> ?/, "").slice(0, 80)}`,
      quoted(exchange.parameters.message),
      `${answerMarkdown(exchange)}${mark}${sourcesOf(exchange)}`,
    ].join("\n\n");
  });
  return [head, ...parts].join("\n");
}

/** The file to save to. Throws CliError `usage` if it exists, or if its folder does not. */
export function newFile(talk: Talk, typed: string): string {
  const path = typedPath(talk, typed);
  if (statsOf(path)) {
    throw new CliError("usage", `${typed} exists already`, { hints: ["choose another file"] });
  }
  return targetFile(path, typed, "");
}
