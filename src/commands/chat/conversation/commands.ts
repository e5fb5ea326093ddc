import { nearest } from "../../../nearest.ts";
import { listSources, titleText, type Source, readerText } from "../../../output/chat/sources.ts";
import { bold, dim, link, plainText } from "../../../output/terminal/text.ts";
import { wrapWords } from "../../../output/terminal/width.ts";
import { regenerate, retry } from "./answers.ts";
import {
  clipboardSequence,
  copyText,
  createPlatform,
  openAddress,
  webAddress,
} from "./platform.ts";
import { writeText, targetFile } from "../save.ts";
import { CliError } from "../../../errors.ts";
import { sourceLines } from "../../../output/chat/source-lines.ts";
import { neutralise, neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { statsOf } from "../../stats-of.ts";
import {
  beginSession,
  chooseSession,
  showSessions,
  attachFile,
  chooseAgent,
  chooseFilter,
  chooseModel,
  chooseTools,
} from "./choices.ts";
import { hint, typedPath, type Exchange, type Talk, type Work } from "./talk.ts";

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
function answerMarkdown({ ending }: Exchange): string {
  return `${neutralise(readerText(ending.turn)).trimEnd()}\n`;
}

/** The whole conversation as Markdown. */
function talkMarkdown(talk: Talk): string {
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
function newFile(talk: Talk, typed: string): string {
  const path = typedPath(talk, typed);
  if (statsOf(path)) {
    throw new CliError("usage", `${typed} exists already`, { hints: ["choose another file"] });
  }
  return targetFile(path, typed, "");
}

function lastAnswer(talk: Talk): Exchange {
  const last = talk.exchanges.findLast(({ ending }) => ending.turn.answer.trim() !== "");
  if (last) return last;
  throw new CliError("usage", "there is no answer yet");
}

/** `/sources`: all sources of the last answer. */
async function showSources(talk: Talk): Promise<void> {
  const { turn } = lastAnswer(talk).ending;
  const lines = sourceLines(turn, Number.POSITIVE_INFINITY, talk.output.columns());
  if (lines.length === 0) return hint(talk, "the last answer names no source");
  for (const line of lines) await talk.output.line(...line);
}

function sourceNumbered(talk: Talk, word: string): Source {
  const { cited } = listSources(lastAnswer(talk).ending.turn);
  const number = /^\[?(\d{1,6})\]?$/.exec(word)?.[1];
  const found = cited.find(({ numbers }) => numbers.includes(Number(number)));
  if (found) return found;
  const known = cited.flatMap(({ numbers }) => numbers);
  const problem =
    word === "" ? "/open needs the number of a source" : `the last answer has no source ${word}`;
  throw new CliError("usage", problem, {
    hints:
      known.length === 0
        ? ["the last answer cites none"]
        : [`the last answer has ${known.join(", ")}`],
  });
}

/** `/open N`: opens the link of a source in the browser, or prints it without a browser. */
async function openSource(talk: Talk, _work: Work, argument: string): Promise<void> {
  const { output } = talk;
  const source = sourceNumbered(talk, argument);
  const title = titleText(source.title);
  const address = source.link === null ? undefined : webAddress(source.link);
  if (address === undefined) {
    const what = source.link === null ? "has no link" : "has no link to the web";
    const place = neutraliseLine(source.link ?? "");
    const file = source.file === null ? "" : `local file ${neutraliseLine(source.file)}`;
    return output.line([title, what, place, file].filter(Boolean).join("  "));
  }
  const isOpen = await openAddress(createPlatform(talk.context.env), address);
  if (isOpen) await hint(talk, `opened ${address}`);
  else await output.line("no browser here; the link is ", link(address, address));
}

async function copy(talk: Talk, text: string, what: string): Promise<void> {
  const { output } = talk;
  // The text may be pasted into a shell later: it must not control a terminal there either.
  const inert = neutralise(text);
  const program = await copyText(createPlatform(talk.context.env), inert);
  if (program !== undefined) return await hint(talk, `${what} is in the clipboard (${program})`);
  const sequence = clipboardSequence(inert);
  if (sequence === undefined) {
    throw new CliError("local", `${what} is too long for the terminal's clipboard`, {
      hints: ["/save FILE writes it to a file"],
    });
  }
  await output.control(sequence);
  await hint(
    talk,
    `${what} was sent to the terminal's clipboard (OSC 52; not every terminal supports it)`,
  );
}

/** `/copy`: copies the last answer, or with a number the link of a source. */
async function copyAnswer(talk: Talk, _work: Work, argument: string): Promise<void> {
  if (argument === "") {
    return await copy(talk, answerMarkdown(lastAnswer(talk)), "the last answer");
  }
  const { link: address } = sourceNumbered(talk, argument);
  if (address === null) throw new CliError("usage", `source ${argument} has no link`);
  await copy(talk, address, `the link of source ${argument}`);
}

/** `/save FILE`: saves the last answer; `/save all FILE`: saves the whole conversation. */
async function saveAnswers(talk: Talk, _work: Work, argument: string): Promise<void> {
  const [, all, file = ""] = /^(all\s+)?([\s\S]*)$/.exec(argument) ?? [];
  if (file === "") {
    throw new CliError("usage", "/save needs a file", {
      hints: ["/save answer.md, or /save all talk.md for the whole conversation"],
    });
  }
  const answer = lastAnswer(talk);
  const path = newFile(talk, file);
  writeText(path, all === undefined ? answerMarkdown(answer) : talkMarkdown(talk));
  const what = all === undefined ? "the last answer" : "the conversation";
  await hint(talk, `saved ${what} to ${file}`);
}

/** A command of the conversation. Throws CliError; the conversation continues. */
type Run = (talk: Talk, work: Work, argument: string) => Promise<void>;

/** Every slash command: name, arguments, summary. In the order of the help. `/exit` ends the loop itself. */
const table: readonly (readonly [name: string, argument: string, summary: string, run: Run])[] = [
  ["help", "", "list the commands", (talk) => showHelp(talk)],
  ["new", "", "begin a new session", beginSession],
  ["agent", "[ID|NAME]", "list agents, or select one for a new session", chooseAgent],
  ["session", "[ID]", "show the session, or continue another", chooseSession],
  ["sessions", "", "list sessions", showSessions],
  ["file", "[PATH|clear]", "attach a file to the next question", attachFile],
  ["model", "[PROVIDER/VERSION|default]", "use another language model", chooseModel],
  ["tools", "[NAME|all|none|force NAME]", "list tools, allow only some, or force one", chooseTools],
  ["filter", "[KIND VALUE|clear]", "filter by source, document set, tag or date", chooseFilter],
  ["regenerate", "", "another answer to the last question", regenerate],
  ["sources", "", "list the sources of the last answer", showSources],
  ["open", "N", "open the link of source N", openSource],
  ["copy", "[N]", "copy the last answer, or the link of source N", copyAnswer],
  ["save", "[all] FILE", "write the answer or the conversation", saveAnswers],
  ["retry", "", "look up or repeat a failed answer", retry],
  ["exit", "", "leave (also Ctrl-D)", async () => {}],
];
export const commandNames: readonly string[] = table.map(([name]) => name);

const keys: readonly (readonly [string, string])[] = [
  ["Alt-Enter, Ctrl-J, \\ Enter", "a new line in the message"],
  ["Up, Down, Ctrl-R", "earlier entries"],
  ["a space at the beginning", "sent unchanged, and not saved in the history"],
  ["Tab", "completes commands and their arguments"],
  ["Ctrl-C", "stops the answer, clears the line, leaves"],
];

// With 28 the list and the prompt fit the 24 lines of a terminal.
const helpColumn = 28;
const narrowIndent = 4;

/** Writes two columns if they fit. A name wider than the first column is on its own line. */
async function showHelp({ output }: Talk): Promise<void> {
  const rows = table.map(
    ([name, argument, summary]) => [`/${name} ${argument}`.trim(), summary] as const,
  );
  const all = [...rows, ...keys];
  const isNarrow = all.some(([, summary]) => helpColumn + summary.length > output.columns());
  const indent = isNarrow ? narrowIndent : helpColumn;
  for (const [what, summary] of all) {
    const [first = "", ...more] = wrapWords(summary, Math.max(1, output.columns() - indent));
    const isAlone = isNarrow || what.length + 2 > indent;
    if (isAlone) await output.line(bold(what));
    const begin = isAlone ? " ".repeat(indent) : bold(what.padEnd(indent));
    await output.line(begin, dim(first));
    for (const line of more) await output.line(" ".repeat(indent), dim(line));
  }
}

/** Splits a typed command; undefined for a text that is not a command. */
export function parseCommand(text: string): { name: string; argument: string } | undefined {
  const name = /^\/([a-zA-Z]+)(?=\s|$)/.exec(text)?.[1];
  if (name === undefined || text.includes("\n")) return undefined;
  return { name: name.toLowerCase(), argument: text.slice(name.length + 1).trim() };
}

const asMessage = "begin with a space to send it as a message";

/** Finds the command that was typed. Throws CliError `usage` if there is none, or it takes no argument. */
export function commandOf({ name, argument }: { name: string; argument: string }): Run {
  const [, takes, , run] = table.find(([each]) => each === name) ?? [];
  if (run === undefined) {
    const near = nearest(name, commandNames);
    const first = near === undefined ? "/help lists them" : `did you mean /${near}?`;
    throw new CliError("usage", `there is no command /${name}`, { hints: [first, asMessage] });
  }
  if (takes !== "" || argument === "") return run;
  // It would be lost: perhaps it is a question.
  throw new CliError("usage", `/${name} takes no text after it`, { hints: [asMessage] });
}
