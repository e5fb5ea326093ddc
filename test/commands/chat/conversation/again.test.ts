import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldClock } from "../../../held-clock.ts";
import { chatPath, createWorld, type World } from "../support.ts";
import { startTalk } from "./talking.ts";

interface Sent {
  message: string;
  parent_message_id?: number | null;
  chat_session_id?: string;
}

const sent = (world: World): Sent[] => world.sandbox.ledger.chats as unknown as Sent[];

describe("/regenerate", () => {
  it.each(["standard", "onyx"] as const)(
    "asks again behind the answer before, in its session (%s)",
    async (dialect) => {
      const world = await createWorld({ dialect });
      const talk = await startTalk(world);
      await talk.enter("first?");
      await talk.enter("second?");
      expect(await talk.enter("/regenerate")).toContain("Extractive answer");
      const [, second, again] = sent(world);
      expect(again).toMatchObject({
        message: "second?",
        chat_session_id: second?.chat_session_id,
        parent_message_id: expect.any(Number),
      });
      // What follows stands behind the new answer, which the service knows.
      await talk.enter("third?");
      expect(sent(world)[3]).not.toHaveProperty("parent_message_id");
    },
  );

  it("starts the first question of a session from its root where the service can", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("first?");
    await talk.enter("/regenerate");
    expect(sent(world)[1]).toMatchObject({
      message: "first?",
      parent_message_id: null,
      chat_session_id: expect.any(String),
    });
  });

  it("begins a new session for it elsewhere, and says so", async () => {
    const world = await createWorld();
    const talk = await startTalk(world);
    await talk.enter("first?");
    expect(await talk.enter("/regenerate")).toContain("a new session begins");
    expect(sent(world)[1]).toEqual({ message: "first?", stream: true });
  });

  it.each(["/new", "/agent 0"])(
    "and /retry do not lead back to a session left by %s",
    async (leave) => {
      const world = await createWorld({ dialect: "onyx" });
      const talk = await startTalk(world);
      await talk.enter("first?");
      await talk.enter(leave);
      for (const command of ["/regenerate", "/retry"]) {
        expect(await talk.enter(command)).toContain("nothing has been asked in this session yet");
      }
      expect(sent(world)).toHaveLength(1);
      await talk.enter("second?");
      expect(sent(world)[1]).not.toHaveProperty("chat_session_id");
      expect(await talk.enter("/regenerate")).toContain("Extractive answer");
    },
  );

  it("asks with the settings as they are now", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const talk = await startTalk(world);
    await talk.enter("first?");
    await talk.enter("/model openai/new");
    await talk.enter("/regenerate");
    expect(sent(world)[1]).toMatchObject({
      llm_override: { model_provider: "openai", model_version: "new" },
    });
  });
});

describe("/retry", () => {
  const cut = { rules: [{ when: { path: chatPath, nth: 1 }, do: { cutAfterBytes: 900 } }] };

  it("shows what the service has finished meanwhile, and sends nothing", async () => {
    const world = await createWorld({ dialect: "onyx", faults: cut });
    const talk = await startTalk(world);
    expect(await talk.enter("first?")).toMatch(
      /error: [^]*? cut[^]*→ \/retry\s+looks\s+into\s+the\s+session/,
    );
    expect(await talk.enter("/retry")).toMatch(/it is not asked again[^]*no language model/);
    expect(sent(world)).toHaveLength(1);
    // It is an answer like any other now.
    expect(await talk.enter("/retry")).toContain("the last answer is complete");
    await talk.enter("second?");
    expect(sent(world)[1]).toHaveProperty("chat_session_id");
  });

  it("follows an answer that is still being made", async () => {
    const clock = heldClock(5);
    const world = await createWorld({ dialect: "onyx", tokenDelayMs: 1, clock, faults: cut });
    const talk = await startTalk(world);
    await talk.enter("first?");
    talk.press("/retry\r");
    await talk.until("still working on the answer; it follows from its beginning");
    clock.release();
    await talk.until(/no language model[^]*> \u001b\[3G$/);
    expect(sent(world)).toHaveLength(1);
  });

  it("is the next step after a gateway gave up in a session", async () => {
    const gone = { status: 502, headers: { "content-type": "text/html" }, body: "<html>" };
    const world = await createWorld({
      dialect: "onyx",
      faults: { rules: [{ when: { path: chatPath, nth: 2 }, do: gone }] },
    });
    const talk = await startTalk(world);
    await talk.enter("first?");
    expect(await talk.enter("second?")).toMatch(/error: [^]*502[^]*→ \/retry\s+looks/);
    expect(await talk.enter("/retry")).toContain("asking again");
  });

  it("asks only a second time where the service cannot tell", async () => {
    const world = await createWorld({ faults: cut });
    const talk = await startTalk(world);
    await talk.enter("first?");
    expect(await talk.enter("/retry")).toMatch(/it may have been\s+answered and\s+stored/);
    expect(sent(world)).toHaveLength(1);
    expect(await talk.enter("/retry")).toContain("Extractive answer");
    expect(sent(world)).toHaveLength(2);
  });

  it("asks again in the place of an answer that was stopped", async () => {
    const clock = heldClock(5);
    const world = await createWorld({ dialect: "onyx", tokenDelayMs: 1, clock });
    const talk = await startTalk(world);
    talk.press("first?\r");
    await talk.until("Extractive");
    talk.press("\u0003");
    await talk.until(/is kept[^]*> \u001b\[3G$/);
    talk.news();
    clock.release();
    expect(await talk.enter("/retry")).toMatch(/without a whole answer: asking again[^]*language/);
    expect(sent(world)[1]).toMatchObject({ message: "first?", parent_message_id: null });
  });
});

describe("a session that is gone on with", () => {
  it("is asked its last question again behind the answer before, files included", async () => {
    const world = await createWorld({ dialect: "onyx" });
    writeFileSync(join(world.home, "notes.md"), "# Notes\nLeave is easy.\n");
    await world.run(["first?"]);
    await world.run(["--continue", "--file", "notes.md", "What is in it?"]);
    const talk = await startTalk(world, ["--continue"]);
    expect(talk.screen()).toMatch(/> What is in it\?[^]*Extractive/);
    await talk.enter("/regenerate");
    const [, asked, again] = sent(world) as unknown as Record<string, unknown>[];
    expect(again).toMatchObject({
      message: "What is in it?",
      parent_message_id: expect.any(Number),
      file_descriptors: asked?.["file_descriptors"],
    });
  });
});
