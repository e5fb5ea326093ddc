import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionId } from "../../output/chat/lines.ts";
import { answer, createWorld, rawTurn, replay } from "./support.ts";

describe("--jq and --fields", () => {
  it.each([
    [["--json", "--jq", ".answer"], `${answer}\n`],
    [["--jq", ".answer"], `${answer}\n`],
    [["-o", "json", "--jq", ".citations[0].number"], "1\n"],
    [
      ["--fields", "status,model.requested"],
      '{\n  "status": "ok",\n  "model": {\n    "requested": null\n  }\n}\n',
    ],
    [["--fields", "sessionId", "--jq", ".sessionId"], `${sessionId}\n`],
  ])("pick from the result: %j", async (flags, expected) => {
    const world = await replay(rawTurn);
    expect(await world.run([...flags, "hi"])).toMatchObject({ code: 0, stdout: expected });
    await world.run(["--record", "r.ndjson", "hi"]);
    const again = ["--replay", "r.ndjson", "--replay-speed", "0", ...flags];
    expect(await world.run(again)).toMatchObject({ code: 0, stdout: expected });
  });

  it("keep the exit code of the answer", async () => {
    const world = await replay(rawTurn.slice(0, -1));
    const { code, stdout } = await world.run(["--jq", ".status", "hi"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "incomplete\n" });
  });
});

describe("a flag without effect", () => {
  const cases: [string, string[]][] = [
    ["--filter", ["--filter", "a=b", "hi"]],
    ["--jq for text", ["-o", "text", "--jq", ".answer", "hi"]],
    ["--jq for ndjson", ["-o", "ndjson", "--jq", ".answer", "hi"]],
    ["--fields for packets", ["-o", "packets", "--fields", "answer", "hi"]],
    ["--json beside another format", ["--json", "-o", "text", "hi"]],
    ["--jq that cannot be read", ["--jq", ".answer |", "hi"]],
    ["--fields that are none", ["--fields", "answr", "hi"]],
    ["--live for json", ["--json", "--live", "hi"]],
    ["--render for json", ["--json", "--render", "markdown", "hi"]],
    ["--show for ndjson", ["-o", "ndjson", "--show", "all", "hi"]],
    ["--no-sources for json", ["--json", "--no-sources", "hi"]],
    ["--no-sources for ndjson", ["-o", "ndjson", "--no-sources", "hi"]],
    ["--no-sources for packets", ["-o", "packets", "--no-sources", "hi"]],
    ["--no-sources for --jq", ["--jq", ".answer", "--no-sources", "hi"]],
    ["--live with --no-stream", ["--no-stream", "--live", "hi"]],
    ["--live with chat.stream false", ["--config", "c.json", "--live", "hi"]],
    ["--live with a payload that asks for no stream", ["--payload", "s.json", "--live", "hi"]],
    ["--concurrency without --batch", ["--concurrency", "2", "hi"]],
    ["--resume without --batch", ["--resume", "q.ndjson", "hi"]],
    ["--no-reask without --resume", ["--no-reask", "hi"]],
    ["--force without --record", ["--force", "hi"]],
    ["--replay-speed without --replay", ["--replay-speed", "2", "hi"]],
    ["--agent beside a session in the payload", ["--agent", "0", "--payload", "p.json", "hi"]],
    ["--session beside one in the payload", ["--session", sessionId, "--payload", "p.json", "hi"]],
    ...["--json", "--force", "--jq=.", "--fields=a", "--filter=a=b", "--show=none"].map(
      (flag): [string, string[]] => [`${flag} with --batch`, ["--batch", "q.ndjson", flag]],
    ),
    ...["--agent=0", "--model=a/b", "--since=7d", "--no-tools", "--no-stream"].map(
      (flag): [string, string[]] => [`${flag} with --replay`, ["--replay", "r.ndjson", flag]],
    ),
  ];

  it.each(cases)("is refused before anything is sent: %s", async (_name, args) => {
    const world = await createWorld();
    writeFileSync(join(world.home, "p.json"), JSON.stringify({ chat_session_id: sessionId }));
    writeFileSync(join(world.home, "s.json"), '{"stream":false}');
    writeFileSync(join(world.home, "c.json"), '{"chat":{"stream":false}}');
    writeFileSync(join(world.home, "q.ndjson"), '{"message":"hi"}\n');
    await world.run(["--record", "r.ndjson", "hi"]);
    world.sandbox.ledger.chats.length = 0;
    expect((await world.run(args)).code).toBe(2);
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  it("yields quietly where a configuration asks for it", async () => {
    const world = await replay(rawTurn);
    writeFileSync(join(world.home, "c.json"), '{"chat":{"sources":false,"live":true}}');
    for (const flags of [["--json"], ["--no-stream"], ["-o", "ndjson"]]) {
      const { code, stderr } = await world.run(["--config", "c.json", ...flags, "hi"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("error") });
    }
  });
});
