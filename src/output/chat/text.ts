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
import { listSources } from "./sources.ts";

const interimMark = "(interim: a tool follows, the text above is not part of the answer)";
const leftOutNote = "text before tool calls is not shown (--live shows it)";
const maxRetrieved = 10;

// If stdout is not a terminal, it contains only the answer; sources go to stderr.
async function writeSources(output: Output, { turn, show, all }: RenderOptions): Promise<void> {
  const limit = all ? Number.POSITIVE_INFINITY : maxRetrieved;
  const width = output.isTerminal ? output.columns() : Number.POSITIVE_INFINITY;
  const hasSources = turnsOf(turn).some((each) => {
    const { cited, retrieved } = listSources(each);
    return cited.length + retrieved.length > 0;
  });
  if (!hasSources) return;
  const { sourceLines } = await import("./source-lines.ts");
  const lines = turnsOf(turn).flatMap((each) => {
    const own = sourceLines(each, show.has("documents") ? limit : 0, width);
    return own.length > 0 && turn.others.length > 0 ? [[bold(modelName(each))], ...own] : own;
  });
  if (lines.length === 0) return;
  const text = lines.flatMap((line): Text[] => [...line, "\n"]);
  if (output.isTerminal) await output.write("\n", joined(text));
  else await output.aside(joined(text));
}

/** Draws single events; tracks whether the answer has been written. */
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
  /** Writes what was not shown live: images and files, and the answers of further models. */
  const writeRest = (): void => {
    // The text shown so far was interim: it is not part of the answer.
    if (live && !hasText(turn.answer)) written = false;
    if (!live || !hasText(turn.answer)) return writeHeld();
    for (const other of turn.others) pen.answer(`\n\n${answerSection(other, fileUrl).trimEnd()}`);
  };
  const draw = (event: TurnEvent): void => {
    // Only the first model's activity: those of parallel models would be mixed.
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
 * The renderer for people. With `live`, text is written at once, and text before a tool
 * call is marked as interim. Else text is written only after the stop packet confirms
 * that it is the answer.
 */
export function createTextRenderer(
  output: Output,
  spinner: Spinner,
  options: RenderOptions,
): ChatRenderer {
  const { turn, live, show, sources } = options;
  // Without a list of sources, the reader needs the link in the marker.
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
