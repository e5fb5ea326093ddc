import type { Output } from "../terminal/output.ts";
import type { Drawing, DrawingOptions } from "./markdown/drawing.ts";

/** How the text of an answer is shown: `auto` is Markdown on a terminal, else plain. */
export const renderModes = ["auto", "markdown", "plain"] as const;
export type RenderMode = (typeof renderModes)[number];

/** Whether `mode` means Markdown here. A dumb terminal, CI and a pipe get the text as it is. */
export function rendersMarkdown(output: Output, mode: RenderMode = "auto"): boolean {
  return mode === "auto" ? output.canRedraw : mode === "markdown";
}

/** The drawing of a text that comes in pieces; its code is loaded by this call. */
export async function openDrawing(output: Output, options: DrawingOptions): Promise<Drawing> {
  const { createDrawing } = await import("./markdown/drawing.ts");
  return createDrawing(output, options);
}

/**
 * Writes a whole text to stdout, as Markdown where `mode` says so, and ends its
 * last line: a stored answer, a message of a session, a report. Streams use
 * openDrawing().
 */
export async function writeAnswer(
  output: Output,
  text: string,
  { mode = "auto", shortensMarkers = false }: { mode?: RenderMode } & Partial<DrawingOptions> = {},
): Promise<void> {
  if (!rendersMarkdown(output, mode)) {
    await output.write(text, text === "" || text.endsWith("\n") ? "" : "\n");
    return;
  }
  const drawing = await openDrawing(output, { shortensMarkers });
  const parts = await drawing.add(text);
  await output.write(...parts, ...(await drawing.end()));
}
