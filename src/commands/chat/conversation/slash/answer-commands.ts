import { CliError } from "../../../../errors.ts";
import { sourceLines } from "../../../../output/chat/source-lines.ts";
import { listSources, titleText, type Source } from "../../../../output/chat/sources.ts";
import { neutralise, neutraliseLine } from "../../../../output/terminal/neutralise.ts";
import { dim, link } from "../../../../output/terminal/text.ts";
import {
  clipboardSequence,
  copyText,
  createPlatform,
  openAddress,
  webAddress,
  type Platform,
} from "../platform.ts";
import { answerMarkdown, saveTarget, talkMarkdown, writeText } from "../saving.ts";
import type { Exchange, Talk, Work } from "../talk.ts";

function lastAnswer(talk: Talk): Exchange {
  const last = talk.exchanges.findLast(({ ending }) => ending.turn.answer.trim() !== "");
  if (last) return last;
  throw new CliError("usage", "there is no answer yet");
}

/** `/sources`: all sources of the last answer. */
export async function showSources(talk: Talk): Promise<void> {
  const { turn } = lastAnswer(talk).ending;
  const lines = sourceLines(turn, Number.POSITIVE_INFINITY, talk.output.columns());
  if (lines.length === 0) return talk.output.note(dim("the last answer names no source"));
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
export async function openSource(
  talk: Talk,
  _work: Work,
  argument: string,
  platform: Platform = createPlatform(talk.context.env),
): Promise<void> {
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
  const isOpen = await openAddress(platform, address);
  if (isOpen) await output.note(dim("opened ", address));
  else await output.line("no browser here; the link is ", link(address, address));
}

async function copy(talk: Talk, platform: Platform, text: string, what: string): Promise<void> {
  const { output } = talk;
  // The text may be pasted into a shell later: it must not control a terminal there either.
  const inert = neutralise(text);
  const program = await copyText(platform, inert);
  if (program !== undefined) return output.note(dim(`${what} is in the clipboard (${program})`));
  const sequence = clipboardSequence(inert);
  if (sequence === undefined) {
    throw new CliError("local", `${what} is too long for the terminal's clipboard`, {
      hints: ["/save FILE writes it to a file"],
    });
  }
  await output.control(sequence);
  await output.note(
    dim(`${what} was sent to the terminal's clipboard (OSC 52; not every terminal supports it)`),
  );
}

/** `/copy`: copies the last answer, or with a number the link of a source. */
export async function copyAnswer(
  talk: Talk,
  _work: Work,
  argument: string,
  platform: Platform = createPlatform(talk.context.env),
): Promise<void> {
  if (argument === "") {
    return await copy(talk, platform, answerMarkdown(lastAnswer(talk)), "the last answer");
  }
  const { link: address } = sourceNumbered(talk, argument);
  if (address === null) throw new CliError("usage", `source ${argument} has no link`);
  await copy(talk, platform, address, `the link of source ${argument}`);
}

/** `/save FILE`: saves the last answer; `/save all FILE`: saves the whole conversation. */
export async function saveAnswers(talk: Talk, _work: Work, argument: string): Promise<void> {
  const [, all, file = ""] = /^(all\s+)?([\s\S]*)$/.exec(argument) ?? [];
  if (file === "") {
    throw new CliError("usage", "/save needs a file", {
      hints: ["/save answer.md, or /save all talk.md for the whole conversation"],
    });
  }
  const answer = lastAnswer(talk);
  const path = saveTarget(talk, file);
  writeText(path, all === undefined ? answerMarkdown(answer) : talkMarkdown(talk));
  await talk.output.note(
    dim(`saved ${all === undefined ? "the last answer" : "the conversation"} to ${file}`),
  );
}
