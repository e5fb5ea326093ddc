import { getEventListeners } from "node:events";
import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { createPrompt } from "../../src/commands/prompt.ts";
import { createOutput } from "../../src/output/terminal/output.ts";
import { main } from "../main.ts";
import { patienceMs } from "../patience.ts";
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

it("fails at once where the input has ended or the signal came before the question", async () => {
  const context = createTestContext({ isTTY: true });
  const stream = new PassThrough();
  const prompt = createPrompt(
    { ...context, stdin: { ...context.stdin, isTTY: true, stream } },
    {},
    createOutput(context),
  );
  setImmediate(() => stream.end());
  await expect(prompt.confirm("Go on?", true)).rejects.toThrow("the input ended");
  await expect(prompt.confirm("Go on?", true)).rejects.toThrow("the input ended");
  expect(prompt.hasEnded).toBe(true);
  context.abort(new Error("stopped"));
  await expect(prompt.confirm("Go on?", true)).rejects.toThrow("stopped");
});

it.each(["ask", "confirm"] as const)(
  "begins a new line when %s ends without Enter",
  async (kind) => {
    const context = createTestContext({ isTTY: true });
    const stream = new PassThrough();
    const stdin = { ...context.stdin, isTTY: true, stream };
    const prompt = createPrompt({ ...context, stdin }, {}, createOutput(context));
    const remedy = { exit: "usage", flag: "--name" } as const;
    const answer = kind === "ask" ? prompt.ask("Name", remedy) : prompt.confirm("Go on?");
    setImmediate(() => context.abort(new Error("stopped")));
    await expect(answer).rejects.toThrow("stopped");
    expect(context.stderrText()).toMatch(/^[^\n]+ \n$/);
  },
);

it("breaks a long question at words, with room for the answer", async () => {
  const context = createTestContext({ isTTY: true });
  const stream = new PassThrough();
  const stdin = { ...context.stdin, isTTY: true, stream };
  const prompt = createPrompt({ ...context, stdin }, {}, createOutput(context));
  const words = Array.from({ length: 30 }, () => "question").join(" ");
  const confirmed = prompt.confirm(`${words}?`);
  setImmediate(() => stream.write("y\n"));
  expect(await confirmed).toBe(true);
  const lines = context.stderrText().split("\n");
  expect(lines.map((line) => line.trim()).join(" ")).toBe(`${words}? [y/N]`);
  for (const line of lines) expect(line.length).toBeLessThan(80);
});

it("ends config init at the end of the input, and says that nothing was changed", async () => {
  const context = createTestContext({ isTTY: true });
  const stream = new PassThrough();
  const stdin = { ...context.stdin, isTTY: true, stream };
  const ended = main(["config", "init"], { ...context, stdin });
  await vi.waitFor(
    () => expect(context.stderrText()).toContain("Address of the service"),
    patienceMs,
  );
  stream.write("\n");
  await vi.waitFor(() => expect(context.stderrText()).toContain("Try knowctl now"), patienceMs);
  stream.end();
  expect(await ended).toBe(2);
  expect(context.stderrText().match(/the input ended/g)).toHaveLength(1);
  expect(context.stderrText().match(/Address of the service/g)).toHaveLength(1);
});
