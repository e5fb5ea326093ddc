import { createParser } from "eventsource-parser";
import { ModelFailure } from "./failure.ts";

const maxEventChars = 1024 * 1024;

/**
 * The payloads of a stream of server-sent events, wherever its chunks end. Ignores comments
 * and other fields; a bare JSON line is a payload, too. Throws ModelFailure for an event above
 * 1 MiB.
 */
export async function* payloadsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let payloads: string[] = [];
  let failure: ModelFailure | undefined;
  const { feed } = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ data }) => void payloads.push(data),
    onError({ type, line }) {
      if (type === "max-buffer-size-exceeded") {
        const text = "The model's server sent an event of more than 1 MiB";
        failure = new ModelFailure("API_ERROR", text);
      } else if (line?.startsWith("{")) payloads.push(line);
    },
  });
  const utf8 = new TextDecoder();
  const take = function* (text: string): Generator<string> {
    feed(text);
    yield* payloads;
    payloads = [];
    if (failure) throw failure;
  };
  for await (const chunk of chunks) yield* take(utf8.decode(chunk, { stream: true }));
  // An empty line ends the last event.
  yield* take(`${utf8.decode()}\n\n`);
}
