import { shortenMarkers } from "./sources.ts";
import type { Output } from "../terminal/output.ts";
import type { Drawing, DrawingOptions } from "./markdown/document.ts";

/** Rendering of an answer's text: `auto` is Markdown on a terminal, else plain. */
const renderModes = ["auto", "markdown", "plain"] as const;
export type RenderMode = (typeof renderModes)[number];

/** Whether to render Markdown. `auto` writes plain text to a dumb terminal, CI or a pipe. */
export function rendersMarkdown(output: Output, mode: RenderMode = "auto"): boolean {
  return mode === "auto" ? output.canRedraw : mode === "markdown";
}

/** Opens the drawing of a streamed text; loads its code. */
export async function openDrawing(output: Output, options: DrawingOptions): Promise<Drawing> {
  const { createDrawing } = await import("./markdown/document.ts");
  return createDrawing(output, options);
}

/**
 * Writes a complete text (a stored answer, a message of a session, a report) to
 * stdout in the rendering `mode`, and ends its last line. Streams use openDrawing().
 */
export async function writeAnswer(
  output: Output,
  text: string,
  { mode = "auto", shortensMarkers = false }: { mode?: RenderMode } & Partial<DrawingOptions> = {},
): Promise<void> {
  if (!rendersMarkdown(output, mode)) {
    // Without a terminal, the reader needs the link in the marker, if it has one.
    const { parts, rest } = shortensMarkers
      ? shortenMarkers(text, output.isTerminal)
      : { parts: [text], rest: "" };
    await output.write(...parts, rest, text === "" || text.endsWith("\n") ? "" : "\n");
    return;
  }
  const drawing = await openDrawing(output, { shortensMarkers });
  const parts = await drawing.add(text);
  await output.write(...parts, ...(await drawing.end()));
}
