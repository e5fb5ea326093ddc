import { StringDecoder } from "node:string_decoder";
import { ModelFailure } from "./failure.ts";

const maxLineChars = 1024 * 1024;

/** Lines of a stream without line ends; the last line needs no line end. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new StringDecoder("utf8");
  // Joined once per line: otherwise each chunk would copy a long line.
  let open: string[] = [];
  let length = 0;
  const closeLine = (rest: string): string => {
    const line = open.join("") + rest;
    open = [];
    length = 0;
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  };
  for await (const chunk of chunks) {
    const text = utf8.write(Buffer.from(chunk));
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      yield closeLine(text.slice(start, end));
      start = end + 1;
    }
    open.push(text.slice(start));
    length += text.length - start;
    if (length > maxLineChars) {
      throw new ModelFailure("API_ERROR", "The model's server sent a line of more than 1 MiB");
    }
  }
  const rest = closeLine(utf8.end());
  if (rest !== "") yield rest;
}

/**
 * The payloads of a stream of server-sent events, wherever its chunks end. Ignores comments
 * and other fields; a bare JSON line is a payload, too. Throws ModelFailure for a line above
 * 1 MiB.
 */
export async function* payloadsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of linesOf(chunks)) {
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
