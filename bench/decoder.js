import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { figure, plainEnvironment } from "./pair.js";

const script = join(import.meta.dirname, "decode-stream.js");
const source = join(import.meta.dirname, "..", "src", "api", "chat");

/** Chunking and megabytes of stream; bytes one by one are slow for everybody. */
const cases = [
  ["1 byte", 4],
  ["20-200 bytes", 100],
  ["0.2-8 KB", 100],
  ["16-64 KB", 100],
];

/** Decoder and parser as one file, as the tool's own build would hold them. */
async function bundleDecoder(folder) {
  const entry = "\0decoder.js";
  const bundle = await rolldown({
    input: entry,
    platform: "node",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) =>
          id === entry
            ? `export { createDecoder } from ${JSON.stringify(join(source, "stream.ts"))};
export { parseStreamLine } from ${JSON.stringify(join(source, "packets.ts"))};`
            : null,
      },
    ],
  });
  const file = join(folder, "decoder.cjs");
  await bundle.write({ file, format: "cjs" });
  await bundle.close();
  return file;
}

function decode(subject, file, chunking, megabytes) {
  const args = [script, subject, file, chunking, String(megabytes)];
  return JSON.parse(execFileSync(process.execPath, args, { env: plainEnvironment }));
}

const middle = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)], max: sorted.at(-1) };
};

/** 100 MB of packets, in chunks of each size: CPU time against eventsource-parser and JSON.parse. */
export const decoderRow = {
  name: "decoder",
  async run({ folder }, runs = 5) {
    const file = await bundleDecoder(folder);
    const lines = cases.map(([chunking, megabytes]) => {
      const pairs = Array.from({ length: Number(runs) }, () =>
        ["ours", "bare"].map((subject) => decode(subject, file, chunking, megabytes)),
      );
      if (pairs.some(([ours, bare]) => ours.events !== bare.events)) {
        throw new Error(`${chunking}: not the same events`);
      }
      const ratio = figure(middle(pairs.map(([ours, bare]) => ours.cpuMs / bare.cpuMs)), 2);
      const [times, otherTimes] = [0, 1].map((index) =>
        figure(middle(pairs.map((pair) => pair[index].cpuMs)), 0),
      );
      const grown = middle(pairs.map(([ours]) => ours.grownMb)).max.toFixed(0);
      return `${megabytes} MB by ${chunking}: ${ratio} times the CPU time of eventsource-parser and JSON.parse, at most 1.5 (aim 1.1); ${times} ms against ${otherTimes} ms; memory grew by ${grown} MB`;
    });
    return lines.join("\n");
  },
};
