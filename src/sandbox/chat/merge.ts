import type { Line } from "./packets.ts";

function ofModel(line: Line, index: number): Line {
  if ("error" in line)
    return { ...line, details: { ...(line.details as object), model_index: index } };
  if (!("placement" in line)) return line;
  // The stop that a user caused belongs to no model: observed-service.md 2.3.
  const model_index = line.placement.model_index === null ? null : index;
  return { ...line, placement: { ...line.placement, model_index } };
}

/**
 * The lines of several turns, one of each in turn, with the number of its model.
 * A turn that fails ends alone; the others go on to their own `stop`.
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
