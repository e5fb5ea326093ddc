import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseStreamLine } from "../../../src/api/chat/packets.ts";
import { createDecoder } from "../../../src/api/chat/follow-turn.ts";
import { ChatEventLine } from "../../../src/output/chat/turn/chat-events.ts";

import { createWorld, replay, rawTurn } from "../../commands/chat/support.ts";
import { fine, play } from "./play.ts";

/** The lines, each checked: the schema takes it, and knows every member of it. */
function checked(stdout: string): ChatEventLine[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => {
      const value = JSON.parse(line) as unknown;
      const parsed = ChatEventLine.safeParse(value);
      expect(parsed.error, line).toBeUndefined();
      expect(parsed.data).toEqual(value);
      return parsed.data!;
    });
}

const folder = new URL("../../fixtures/wire/", import.meta.url);
const streams = readdirSync(folder).filter((name) => /\.(?:ndjson|sse|txt)$/.test(name));

describe("chat events", () => {
  it.each(streams)("of %s are as the schema says", async (name) => {
    const decoder = createDecoder({ lineBytes: 1e6 });
    const bytes = readFileSync(new URL(name, folder));
    const lines = [...decoder.push(bytes), ...decoder.end()].map(parseStreamLine);
    const { stdout } = await play([lines], { format: "ndjson", outcome: fine });
    expect(checked(stdout).at(-1)).toMatchObject({ type: "result", status: "ok" });
  });

  it.each([
    ["a complete answer", ["hi"], rawTurn, 0, "ok"],
    ["a cut answer", ["hi"], rawTurn.slice(0, 14), 11, "incomplete"],
    ["an error line", ["hi"], ['{"error":"no","error_code":"RATE_LIMIT"}'], 6, "error"],
    ["no stream at all", ["hi"], [], 11, "incomplete"],
    ["a usage error", ["--continue", "--session", "x", "hi"], rawTurn, 2, "error"],
  ])("end with a result after %s", async (_name, args, lines, exitCode, status) => {
    const world = await replay(lines);
    const { code, stdout } = await world.run(["--output", "ndjson", ...args]);
    expect(code).toBe(exitCode);
    expect(checked(stdout).at(-1)).toMatchObject({ type: "result", status });
    const whole = await world.run(["--output", "json", ...args]);
    const [result] = checked(JSON.stringify({ ...JSON.parse(whole.stdout), type: "result" }));
    expect(result).toMatchObject({ status });
  });

  it("of a reply in one piece are the same", async () => {
    const world = await createWorld();
    const { stdout } = await world.run(["--output", "ndjson", "--no-stream", "hi"]);
    expect(
      checked(stdout)
        .map(({ type }) => type)
        .at(-1),
    ).toBe("result");
  });

  it("refuse what is none", () => {
    for (const line of [{ version: 2, type: "text", text: "" }, { version: 1, type: "later" }, {}])
      expect(ChatEventLine.safeParse(line).success).toBe(false);
  });
});
