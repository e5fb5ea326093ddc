import { describe, expect, it, vi } from "vitest";
import { SignalReceived } from "../../../../src/context.ts";
import { heldClock } from "../../../held-clock.ts";
import { patienceMs } from "../../../patience.ts";
import { chatPath, createWorld, upload } from "../support.ts";
import { startTalk } from "./talking.ts";

describe("a conversation", () => {
  it.each(["standard", "onyx"] as const)(
    "asks in one session and ends with 0 (%s)",
    async (dialect) => {
      const world = await createWorld({ dialect });
      const talk = await startTalk(world);
      expect(await talk.enter("first?")).toContain("Extractive answer");
      expect(await talk.enter("second?")).toContain("Extractive answer");
      const [first, second] = world.sandbox.ledger.chats;
      expect(first).not.toHaveProperty("chat_session_id");
      expect(second).toMatchObject({ message: "second?", chat_session_id: expect.any(String) });
      expect(second).not.toHaveProperty("parent_message_id");
      talk.press("\u0004");
      expect(await talk.done).toBe(0);
      expect(talk.news()).toMatch(/session [0-9a-f-]{36} · continue with/);
      expect(talk.modes).toEqual(["\u001b[?2004h", "\u001b[?2004l"]);
    },
  );

  it("tells a failure and goes on", async () => {
    const world = await createWorld({
      faults: { rules: [{ when: { path: "/api/chat", nth: 1 }, do: { status: 403 } }] },
    });
    const talk = await startTalk(world);
    expect(await talk.enter("one")).toMatch(/error: .*403/);
    expect(await talk.enter("/retry")).toContain("asking again");
    expect(world.sandbox.ledger.chats).toHaveLength(1);
    await talk.enter("/exit");
    expect(await talk.done).toBe(0);
  });

  it("stops an answer on Ctrl-C, keeps the text and goes on", async () => {
    // After some words the answer stands still: nothing but the key ends it.
    const clock = heldClock(5);
    const world = await createWorld({ dialect: "onyx", tokenDelayMs: 1, clock });
    const talk = await startTalk(world);
    talk.press("hi\r");
    await talk.until("Extractive");
    talk.press("\u0003");
    await talk.until(/stopped; the part of the answer that arrived is kept[^]*> \u001b\[3G$/);
    const told = world.sandbox.ledger.requests.filter(({ path }) =>
      path.includes("stop-chat-session"),
    );
    expect(told).toHaveLength(1);
    clock.release();
    expect(await talk.enter("again")).toContain("Extractive answer");
  });

  it("says after Ctrl-C that no text of the answer arrived", async () => {
    const world = await createWorld({
      dialect: "onyx",
      faults: { rules: [{ when: { path: chatPath }, do: "hang" }] },
    });
    const talk = await startTalk(world);
    talk.press("hi\r");
    await vi.waitFor(() => expect(world.sandbox.ledger.requestCount).toBe(1), {
      timeout: patienceMs,
    });
    talk.press("\u0003");
    await talk.until(/stopped before the answer began[^]*> \u001b\[3G$/);
  });

  it("says after Ctrl-C where the service cannot be told to stop", async () => {
    const world = await createWorld({ tokenDelayMs: 1, clock: heldClock(5) });
    const talk = await startTalk(world);
    talk.press("hi\r");
    await talk.until("Extractive");
    talk.press("\u0003");
    await talk.until(/stopped; .* is kept \(this service has no stop\s+request and may continue/);
  });

  it("ends by a signal with its code and the terminal restored", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    talk.abort(new SignalReceived("SIGTERM", "terminated"));
    expect(await talk.done).toBe(143);
    expect(talk.modes.at(-1)).toBe("\u001b[?2004l");
  });

  it("ends when the terminal goes away", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    talk.hangUp();
    expect(await talk.done).toBe(0);
    expect(talk.modes).toHaveLength(2);
  });

  it("leaves after two Ctrl-C on an empty line, and clears one that holds text", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    talk.press("some text\u0003");
    await talk.until("some text\u001b[1G\u001b[0J> ");
    talk.press("\u0003");
    await talk.until("press Ctrl-C again or Ctrl-D to leave");
    talk.press("\u0003");
    expect(await talk.done).toBe(0);
    expect(world.sandbox.ledger.chats).toHaveLength(0);
  });

  it("lists and opens sources without a browser", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world);
    await talk.enter("How do I ask for leave?");
    expect(await talk.enter("/sources")).toContain("[1] Leave");
    expect(await talk.enter("/sources 1")).toContain("error: /sources takes no text after it");
    expect(await talk.enter("/new And in summer?")).toContain("/new takes no text after it");
    expect(await talk.enter("/exit And in May?")).toContain("/exit takes no text after it");
    expect(await talk.enter("/quit And in May?")).toContain("/exit takes no text after it");
    expect(await talk.enter("/open 1")).toContain("the link is https://docs.example.com/leave.md");
    expect(await talk.enter("/open 7")).toMatch(/error: the last answer has no source 7/);
    expect(await talk.enter("/open")).toContain("/open needs the number of a source");
    expect(await talk.enter("/copy")).toContain("\u001b]52;c;");
  });
});
