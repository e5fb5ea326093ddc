import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failureLine, sessionId } from "../../../output/chat/lines.ts";
import { answer, chatPath, createWorld, rawTurn, type World } from "../support.ts";

/** A world whose service streams these lines, whatever it was asked for. */
function streaming(
  lines: readonly string[],
  type = "text/event-stream",
  dialect: "standard" | "onyx" = "standard",
): Promise<World> {
  const headers = { "content-type": type };
  const body = `${lines.join("\n")}\n`;
  const rules = [{ when: { path: chatPath }, do: { status: 200, headers, body } }];
  return createWorld({ dialect, faults: { rules } });
}

const sse = rawTurn.map((line) => `data: ${line}\n`);

describe("--no-stream, answered by a stream", () => {
  it.each([
    ["lines", rawTurn, "text/event-stream; charset=utf-8"],
    ["SSE", sse, "text/event-stream"],
    ["lines under their own type", rawTurn, "application/x-ndjson"],
    ["lines under the type of a reply", rawTurn, "application/json"],
  ])("takes it as the answer: %s", async (_name, lines, type) => {
    const world = await streaming(lines, type);
    const { code, stdout, stderr } = await world.run(["--no-stream", "--save", "a.md", "hi"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer}\n` });
    expect(stderr).toContain(sessionId);
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe(`${answer}\n`);
    const json = await world.run(["--no-stream", "--json", "hi"]);
    const streamed = await world.run(["--json", "hi"]);
    const untimed = (text: string): object => ({ ...JSON.parse(text), timings: null });
    expect(untimed(json.stdout)).toEqual(untimed(streamed.stdout));
  });

  it("shows its packets as they came", async () => {
    const world = await streaming(rawTurn);
    const { code, stdout } = await world.run(["--no-stream", "--output", "packets", "hi"]);
    expect({ code, lines: stdout.trimEnd().split("\n") }).toEqual({ code: 0, lines: rawTurn });
  });

  it("can be recorded and played again", async () => {
    const world = await streaming(rawTurn);
    await world.run(["--no-stream", "--record", "r.ndjson", "hi"]);
    const args = ["--replay", "r.ndjson", "--replay-speed", "0"];
    expect(await world.run(args)).toMatchObject({ code: 0, stdout: `${answer}\n` });
  });

  it("answers a batch", async () => {
    const world = await streaming(rawTurn);
    writeFileSync(join(world.home, "q.ndjson"), '{"message":"hi"}\n');
    const { code, stdout } = await world.run(["--no-stream", "--batch", "q.ndjson"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "ok", answer });
  });

  const cut = rawTurn.slice(0, -1);
  it.each([
    ["that is cut", cut, 11, "the answer is cut"],
    ["with a damaged line", [...cut, '{"obj":', ...rawTurn.slice(-1)], 11, "is damaged"],
    ["that fails", [...cut, failureLine("too many", "RATE_LIMITED").raw], 6, "too many"],
  ])("of one %s keeps what came", async (_name, lines, exit, words) => {
    const world = await streaming(lines, "text/event-stream", "onyx");
    const { code, stdout, stderr } = await world.run(["--no-stream", "hi"]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: `${answer}\n` });
    expect(stderr).toContain(words);
    expect(stderr).toContain(sessionId);
  });

  it("of one with nothing in it is cut", async () => {
    const world = await streaming([""]);
    expect(await world.run(["--no-stream", "hi"])).toMatchObject({ code: 11, stdout: "" });
  });
});
