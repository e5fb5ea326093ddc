import type { TurnEvent } from "./turn/turn-event.ts";
import type { ChatRenderer, RenderOptions } from "./renderer.ts";
import type { Output } from "../terminal/output.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { bold, dim, joined, type Text } from "../terminal/text.ts";
import { createActivity, waitingFor } from "./activity.ts";
import { hasText, isStopped, turnsOf } from "./turn/answer.ts";
import { answerHeading, answerSection, modelName, readerText } from "./made.ts";
import { openDrawing, rendersMarkdown } from "./markdown.ts";
import { createPen, type Pen } from "./pen.ts";
import { sourceLines } from "./sources.ts";

const interimMark = "(interim: a tool follows, the text above is not part of the answer)";
const leftOutNote = "text that came before a tool ran is left out (--live shows it)";
const mostRetrieved = 10;

// Off a terminal stdout is the answer alone.
async function writeSources(output: Output, { turn, show, all }: RenderOptions): Promise<void> {
  const most = all ? Number.POSITIVE_INFINITY : mostRetrieved;
  const lines = turnsOf(turn).flatMap((each) => {
    const own = sourceLines(each, show.has("documents") ? most : 0);
    return own.length > 0 && turn.others.length > 0 ? [[bold(modelName(each))], ...own] : own;
  });
  if (lines.length === 0) return;
  const text = lines.flatMap((line): Text[] => [...line, "\n"]);
  if (output.isTerminal) await output.write("\n", joined(text));
  else await output.aside(joined(text));
}

/** Draws single events; keeps what was already written of the answer. */
function createDrawing(pen: Pen, options: RenderOptions) {
  const { turn, live, fileUrl } = options;
  const activity = createActivity(options);
  let written = false;
  const writeHeld = (): void => {
    if (written) return;
    written = true;
    pen.answer(readerText(turn, fileUrl));
  };
  const drawLive = (text: string): void => {
    if (!written && turn.others.length > 0) pen.answer(answerHeading(turn));
    written = true;
    pen.answer(text);
  };
  /** What was not shown as it came: what is no text, and the answers of all models but the first. */
  const writeRest = (): void => {
    // Text that came before a tool has been shown, and is not part of the answer.
    if (live && !hasText(turn.answer)) written = false;
    if (!live || !hasText(turn.answer)) return writeHeld();
    for (const other of turn.others) pen.answer(`\n\n${answerSection(other, fileUrl).trimEnd()}`);
  };
  const draw = (event: TurnEvent): void => {
    // What other models think and do at the same time would be one heap with the first one's.
    if ((event.model ?? 0) > 0) return;
    if (event.type === "text" && live) drawLive(event.text);
    else if (event.type === "stop" && !live && turn.others.length === 0) writeHeld();
    else if (event.type === "interim" && live && event.text.trim() !== "") {
      pen.endAnswer();
      pen.lines([dim(interimMark), "\n"]);
    } else activity.draw(event, pen);
  };
  return { draw, writeRest, finish: () => activity.finish(pen) };
}

/**
 * The renderer for people. With `live` the answer is written as it comes and
 * text that a tool follows is marked; else nothing is written before the stop
 * packet says that the text is the answer.
 */
export function createTextRenderer(
  output: Output,
  spinner: Spinner,
  options: RenderOptions,
): ChatRenderer {
  const { turn, live, show, sources } = options;
  // Where no source follows, the marker's link is all there is.
  const short = output.isTerminal && sources;
  const pen = createPen(output, {
    short,
    drawing: rendersMarkdown(output, options.render)
      ? openDrawing(output, { shortensMarkers: short })
      : undefined,
  });
  const { draw, writeRest, finish } = createDrawing(pen, options);
  return {
    async show(events) {
      for (const event of events) draw(event);
      if (pen.isEmpty) return;
      await spinner.stop();
      await pen.flush();
      if (!isStopped(turn) && !pen.midLine) spinner.start(waitingFor(events.at(-1)));
    },
    async finish(outcome) {
      await spinner.stop();
      finish();
      writeRest();
      pen.end();
      const leftOut = !live && turn.interim.some((text) => text.trim() !== "");
      if (leftOut && show.has("tools")) pen.lines([dim(leftOutNote), "\n"]);
      await pen.flush();
      if (outcome.status === "ok" && sources) await writeSources(output, options);
      await output.flush();
    },
  };
}
