import type { Outcome, RenderOptions } from "../../../src/output/chat/renderer.ts";
import { tmpdir } from "node:os";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import type { Context, Sink } from "../../../src/context.ts";
import { advance, createTurn } from "../../../src/output/chat/turn/answer.ts";
import { chatRenderers, type ChatFormat } from "../../../src/output/chat/render.ts";
import type { Shown } from "../../../src/output/chat/turn/tools.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

const everything: ReadonlySet<Shown> = new Set(["reasoning", "tools", "documents"]);

/** A turn that ended well. */
export const fine: Outcome = {
  status: "ok",
  error: null,
  requestedModel: null,
  warnings: [],
  timings: { firstTextMs: 5, totalMs: 9 },
};

export interface PlayOptions extends Partial<Omit<RenderOptions, "turn">> {
  format?: ChatFormat;
  isTTY?: boolean;
  outcome?: Outcome;
  secret?: string;
  colour?: boolean;
  /** Added to the environment. */
  env?: Record<string, string>;
}

// Both streams of the context as one list of writes, in order.
function recordWrites(context: Context): { context: Context; writes: [string, string][] } {
  const writes: [string, string][] = [];
  const watch = (name: string, sink: Sink): Sink => ({
    ...sink,
    write(part) {
      if (part.length > 0) writes.push([name, String(part)]);
      return sink.write(part);
    },
  });
  const watched = {
    ...context,
    stdout: watch("out", context.stdout),
    stderr: watch("err", context.stderr),
  };
  return { context: watched, writes };
}

/** Draws batches of lines; one batch stands for one network chunk. */
export async function play(batches: readonly ChatEvent[][], options: PlayOptions = {}) {
  const test = createTestContext({
    isTTY: options.isTTY === true,
    // Nothing is written there; a folder for each of thousands of turns would cost time.
    cwd: tmpdir(),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const { context, writes } = recordWrites(test);
  const output = createOutput(context, options.colour ? {} : { color: false });
  if (options.secret) output.secrets.add(options.secret);
  const turn = createTurn();
  const renderer = chatRenderers[options.format ?? "text"](
    output,
    { start() {}, async stop() {} },
    {
      turn,
      live: options.live ?? options.isTTY === true,
      show: options.show ?? everything,
      sources: options.sources ?? true,
      render: options.render ?? "plain",
      all: options.all ?? false,
      fileUrl: options.fileUrl,
    },
  );
  for (const batch of batches) {
    await renderer.show(
      batch.flatMap((line) => advance(turn, line)),
      batch,
    );
  }
  await renderer.finish(options.outcome ?? fine);
  return { stdout: test.stdoutText(), stderr: test.stderrText(), writes, turn };
}

/** Every line as a chunk of its own. */
export const each = (lines: readonly ChatEvent[]): ChatEvent[][] => lines.map((line) => [line]);

/** The answer of the fixture turn. */
export const answer = "Ask your manager [[1]](https://docs.example.com/leave).";
