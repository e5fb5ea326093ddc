import { getEventListeners } from "node:events";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createPrompt } from "../../src/commands/prompt.ts";
import { createOutput } from "../../src/output/terminal/output.ts";
import { createTestContext } from "../support.ts";

it("leaves nothing behind at the signal, however many questions are asked", async () => {
  const context = createTestContext({ isTTY: true });
  const stream = new PassThrough();
  const stdin = { ...context.stdin, isTTY: true, stream };
  const prompt = createPrompt({ ...context, stdin }, {}, createOutput(context));
  const remedy = { exit: "usage", flag: "--name" } as const;
  for (let number = 0; number < 3; number++) {
    const answer = prompt.ask("Name", remedy);
    setImmediate(() => stream.write(`answer ${number}\n`));
    expect(await answer).toBe(`answer ${number}`);
  }
  expect(getEventListeners(context.signal, "abort")).toEqual([]);
});
