import { linesOf } from "../../../recording.ts";
import { ModelFailure } from "./failure.ts";

const maxLineBytes = 1024 * 1024;

/**
 * The payloads of a stream of server-sent events, wherever its chunks end. Ignores comments
 * and other fields; a bare JSON line is a payload, too. Throws ModelFailure for a line above
 * 1 MiB.
 */
export async function* payloadsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const tooLong = (): Error =>
    new ModelFailure("API_ERROR", "The model's server sent a line of more than 1 MiB");
  let data: string[] = [];
  for await (const { text } of linesOf(chunks, maxLineBytes, tooLong)) {
    const line = text.replace(/\r$/, "");
    if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    else if (line.startsWith("{")) yield line;
    else if (line === "" && data.length > 0) {
      yield data.join("\n");
      data = [];
    }
    if (data.length > 1_000)
      throw new ModelFailure("API_ERROR", "The model's server sent an event without an end");
  }
  if (data.length > 0) yield data.join("\n");
}
