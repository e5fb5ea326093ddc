import { describe, expect, it, vi } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { heldClock } from "../../held-clock.ts";
import { patienceMs } from "../../patience.ts";
import { createTestContext } from "../../support.ts";
import { createWorld } from "./support.ts";

describe("Ctrl-C", () => {
  it.each([
    ["onyx", 1],
    ["standard", 0],
  ] as const)(
    "keeps the text, tells the service where it can (%s), exits 130",
    async (dialect, stops) => {
      // After some words the answer stands still: nothing but the interrupt ends it.
      const world = await createWorld({ dialect, tokenDelayMs: 1, clock: heldClock(5) });
      const context = createTestContext({ cwd: world.home, env: world.env });
      const running = main(["chat", "--live", "--show", "none", "hi"], context);
      await vi.waitFor(() => expect(context.stdoutText()).not.toBe(""), patienceMs);
      context.abort(new SignalReceived("SIGINT", "interrupted"));
      expect(await running).toBe(130);
      expect(context.stdoutText()).toMatch(/^Extractive.*\n$/);
      expect(context.stderrText()).toMatch(/session [0-9a-f-]{36}/);
      const told = world.sandbox.ledger.requests.filter(({ path }) =>
        path.includes("stop-chat-session"),
      );
      expect(told).toHaveLength(stops);
    },
  );

  it("writes what was held and an interrupted result", async () => {
    const world = await createWorld({ tokenDelayMs: 1, clock: heldClock(5) });
    const context = createTestContext({ cwd: world.home, env: world.env });
    const running = main(["chat", "--output", "ndjson", "hi"], context);
    await vi.waitFor(() => expect(context.stdoutText()).toContain('"type":"text"'), patienceMs);
    context.abort(new SignalReceived("SIGTERM", "terminated"));
    expect(await running).toBe(143);
    const last = context.stdoutText().trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ type: "result", status: "interrupted", error: null });
  });
});
