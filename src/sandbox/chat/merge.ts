import type { Line } from "./packets.ts";

function ofModel(line: Line, index: number): Line {
  if ("error" in line)
    return { ...line, details: { ...(line.details as object), model_index: index } };
  if (!("placement" in line)) return line;
  // A stop by the user belongs to no model: observed-service.md 2.3.
  const model_index = line.placement.model_index === null ? null : index;
  return { ...line, placement: { ...line.placement, model_index } };
}

/**
 * Merges the lines of several turns round-robin, each line with the index of its model.
 * A failed turn ends alone; the others continue to their own `stop`.
 */
export async function* mergeTurns(turns: readonly AsyncGenerator<Line>[]): AsyncGenerator<Line> {
  let open = turns.map((lines, index) => ({ lines, index }));
  while (open.length > 0) {
    const left = [];
    for (const turn of open) {
      const next = await turn.lines.next();
      if (next.done) continue;
      yield ofModel(next.value, turn.index);
      left.push(turn);
    }
    open = left;
  }
}
