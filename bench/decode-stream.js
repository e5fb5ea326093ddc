// Decodes a stream of chat packets and prints its CPU time and what memory grew by, as JSON.
// Arguments: `ours` with the built decoder, or `bare` (eventsource-parser and JSON.parse); chunking; megabytes.
import { createRequire } from "node:module";

/** Least and most bytes of a chunk. */
const chunkings = {
  "1 byte": [1, 1],
  "20-200 bytes": [20, 200],
  "0.2-8 KB": [200, 8192],
  "16-64 KB": [16_384, 65_536],
};

const words = ["leave ", "Urlaub ", "отпуск ", "休暇を", "申請 ", "👋 ", "naïve ", "plan, "];
const placement = { turn_index: 3, tab_index: 0, sub_turn_index: null, model_index: 0 };

function packetAt(index) {
  if (index % 500 === 0) {
    const documents = Array.from({ length: 10 }, (_, n) => ({
      document_id: `hr/${index}-${n}`,
      semantic_identifier: `Document ${n}`,
      link: `https://docs.example.com/${index}/${n}`,
      blurb: words.join("").repeat(5),
      source_type: "file",
      updated_at: "2026-01-01T00:00:00+00:00",
    }));
    return { placement, obj: { type: "search_tool_documents_delta", documents } };
  }
  const word = words[index % words.length];
  if (index % 9 === 0) return { placement, obj: { type: "reasoning_delta", reasoning: word } };
  return { placement, obj: { type: "message_delta", content: word } };
}

/** A block of events; the stream repeats it. */
function makeBlock(bytes) {
  let text = "";
  for (let index = 0; text.length < bytes; index++) {
    text += `data: ${JSON.stringify(packetAt(index))}\n\n`;
  }
  return Buffer.from(text);
}

/** The stream in chunks; the same ones at each call. */
function* chunksOf(block, [least, most], total) {
  let seed = 42;
  let sent = 0;
  while (sent < total) {
    for (let at = 0; at < block.length;) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      const size = least + (seed % (most - least + 1));
      yield block.subarray(at, at + size);
      at += size;
    }
    sent += block.length;
  }
}

function createSubject(decoder) {
  const { createDecoder, parseStreamLine } = createRequire(import.meta.url)(decoder);
  const { push } = createDecoder({ lineBytes: 64 * 1024 * 1024 });
  return (chunk) => {
    let count = 0;
    for (const message of push(chunk)) if (parseStreamLine(message).kind === "packet") count++;
    return count;
  };
}

async function createBare() {
  const { createParser } = await import("eventsource-parser");
  const utf8 = new TextDecoder();
  let count = 0;
  const parser = createParser({
    onEvent({ data }) {
      if (typeof JSON.parse(data).obj.type === "string") count++;
    },
  });
  return (chunk) => {
    count = 0;
    parser.feed(utf8.decode(chunk, { stream: true }));
    return count;
  };
}

const [subject, decoder, chunking, megabytes] = process.argv.slice(2);
const take = subject === "ours" ? createSubject(decoder) : await createBare();
const block = makeBlock(2_000_000);
const total = Number(megabytes) * 1e6;
// Warm-up: what is measured is the steady state.
for (const chunk of chunksOf(block, chunkings[chunking], Math.min(total, 4e6))) take(chunk);
let events = 0;
let peak = 0;
const before = process.memoryUsage.rss();
const begun = process.cpuUsage();
let chunks = 0;
for (const chunk of chunksOf(block, chunkings[chunking], total)) {
  events += take(chunk);
  if ((++chunks & 0xfff) === 0) peak = Math.max(peak, process.memoryUsage.rss());
}
const { user, system } = process.cpuUsage(begun);
console.log(
  JSON.stringify({ cpuMs: (user + system) / 1000, events, grownMb: (peak - before) / 1e6 }),
);
