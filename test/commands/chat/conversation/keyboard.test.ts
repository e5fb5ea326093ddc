import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { openKeyboard } from "../../../../src/commands/chat/conversation/conversation.ts";
import type { Input } from "../../../../src/output/terminal/editor.ts";
import { createTestContext } from "../../../support.ts";

it("hears the keys after a question has paused the input", async () => {
  const context = createTestContext({ isTTY: true });
  const stream = new PassThrough();
  stream.pause();
  const heard = new Promise<Input>((onInput) => {
    const listener = { onInput, onResize: () => {}, onEnd: () => {} };
    openKeyboard({ ...context, stdin: { ...context.stdin, stream } }, listener);
  });
  stream.write("a");
  expect(await heard).toMatchObject({ text: "a" });
  stream.destroy();
});
