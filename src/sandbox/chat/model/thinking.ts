/** A piece of a model's output. */
export interface ModelPiece {
  kind: "text" | "reasoning";
  text: string;
}

const opening = "<think>";
const closing = "</think>";

/** Length of the longest end of `text` that may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Separates the reasoning from the text, wherever the pieces end: some servers send it as a
 * `<think>` block at the beginning of the text.
 */
export function createThinkingFilter() {
  let state: "start" | "thinking" | "text" = "start";
  let held = "";
  const inThinking = (): ModelPiece[] => {
    const end = held.indexOf(closing);
    if (end >= 0) {
      const pieces = [
        { kind: "reasoning" as const, text: held.slice(0, end) },
        { kind: "text" as const, text: held.slice(end + closing.length).trimStart() },
      ];
      held = "";
      state = "text";
      return pieces;
    }
    const keep = overlap(held, closing);
    const text = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    return [{ kind: "reasoning", text }];
  };
  return {
    push(text: string): ModelPiece[] {
      if (state === "text") return [{ kind: "text", text }];
      held += text;
      if (state === "start") {
        const begun = held.trimStart();
        if (begun.startsWith(opening)) {
          state = "thinking";
          held = begun.slice(opening.length);
        } else if (opening.startsWith(begun)) return [];
        else {
          state = "text";
          const whole = held;
          held = "";
          return [{ kind: "text", text: whole }];
        }
      }
      return inThinking();
    },
    end(): ModelPiece[] {
      return held === "" ? [] : [{ kind: state === "thinking" ? "reasoning" : "text", text: held }];
    },
  };
}
