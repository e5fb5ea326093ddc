import { openDrawing } from "../../../../src/output/chat/markdown.ts";
import { openTerminal, type TerminalOptions, type TestTerminal } from "./terminal.ts";

/** Draws `pieces` on a terminal of its own, each with one write. */
export async function draw(
  pieces: Iterable<string>,
  options: TerminalOptions & { shortensMarkers?: boolean } = {},
): Promise<TestTerminal> {
  const terminal = openTerminal(options);
  const { output } = terminal;
  const { shortensMarkers = false } = options;
  const drawing = await openDrawing(output, { shortensMarkers });
  for (const piece of pieces) await output.write(...(await drawing.add(piece)));
  await output.write(...(await drawing.end()));
  await output.flush();
  return terminal;
}

/** The rows that `source` ends up as. */
export async function rowsOf(source: string, options: TerminalOptions = {}): Promise<string[]> {
  return await (await draw([source], options)).rows();
}
