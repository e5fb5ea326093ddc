import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { sessionId } from "../../../output/chat/lines.ts";
import { chatPath, createWorld, type World } from "../support.ts";

const session = JSON.stringify({ chat_session_id: sessionId });
const text = (content: string): string =>
  JSON.stringify({ placement: { turn_index: 0 }, obj: { type: "message_delta", content } });
const stop = '{"placement":{"turn_index":0},"obj":{"type":"stop","stop_reason":null}}';

/** A service that answers every question with these bytes. */
async function answering(body: Buffer, type = "text/event-stream"): Promise<World> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== chatPath) return void response.writeHead(404).end("{}");
    response.writeHead(200, { "content-type": type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const world = await createWorld();
  const { port } = server.address() as AddressInfo;
  world.env["KNOWCTL_BASE_URL"] = `http://127.0.0.1:${port}`;
  return world;
}

/** Latin-1 for the characters below 256: `ÿ` is a byte that no text in UTF-8 has. */
const bytes = (...lines: string[]): Buffer => Buffer.from(`${lines.join("\n")}\n`, "latin1");

const damage = "the answer is damaged: 1 line of the stream could not be read";

describe("bytes that are no UTF-8", () => {
  it.each([
    ["in a text", [session, text("one"), text("b\u00ffd"), text(" two"), stop]],
    [
      "in a text of an SSE message",
      ["one", "b\u00ffd", " two"]
        .map(text)
        .concat(stop)
        .map((line) => `data: ${line}\n`),
    ],
    ["in a name of a member", [text("one"), `{"\u00e9":1}`, text(" two"), stop]],
    ["at the end of a text", [text("one"), text("b\u00c3"), text(" two"), stop]],
  ])("damage the line %s, and the others are shown", async (_name, lines) => {
    const world = await answering(bytes(...lines));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "one two\n" });
    expect(stderr).toContain(damage);
    const json = await world.run(["--json", "hi"]);
    expect(json.code).toBe(11);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "incomplete", answer: "one two" });
  });

  it("damage a recording of them as well", async () => {
    const world = await answering(bytes(session, text("one"), text("b\u00ffd"), stop));
    expect((await world.run(["--record", "r.ndjson", "hi"])).code).toBe(11);
    const args = ["--replay", "r.ndjson", "--replay-speed", "0"];
    const { code, stdout, stderr } = await world.run(args);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "one\n" });
    expect(stderr).toContain(damage);
  });

  it("damage a line in which a key is hidden", async () => {
    const world = await answering(bytes(text("one"), text("sandbox b\u00ffd"), stop));
    expect((await world.run(["hi"])).code).toBe(11);
  });

  it("in the line of the end leave the answer cut", async () => {
    const world = await answering(bytes(text("one"), `{"obj":{"type":"stop","x":"\u00ff"}}`));
    expect(await world.run(["hi"])).toMatchObject({ code: 11, stdout: "one\n" });
  });

  it.each(["text/event-stream", "application/json"])(
    "make a whole reply under %s incomplete",
    async (type) => {
      const world = await answering(bytes(`{"answer":"b\u00ffd","error_msg":null}`), type);
      const { code, stderr } = await world.run(["hi"]);
      expect(code).toBe(11);
      expect(stderr).not.toContain("another kind");
    },
  );

  it("are not those of a mark for a lost character, which a text may hold", async () => {
    const body = Buffer.from([text("one \uFFFD"), stop, ""].join("\n"));
    const world = await answering(body);
    expect(await world.run(["hi"])).toMatchObject({ code: 0, stdout: "one \uFFFD\n" });
  });
});

describe("an SSE event named error", () => {
  const event = (data: string): string => `event: error\ndata: ${data}\n`;

  it.each([
    ['{"message": "backend exploded"}', 8],
    ['{"detail": "backend exploded"}', 8],
    ['{"message": "backend exploded", "error_code": "RATE_LIMITED"}', 6],
    ["backend exploded", 8],
    ['{"error": {"message": "backend exploded"}}', 8],
  ])("is the failure of the answer: %s", async (data, exit) => {
    const lines = [`data: ${text("one")}\n`, event(data), `data: ${stop}\n`];
    const world = await answering(bytes(...lines));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: "one\n" });
    expect(stderr).toContain("the service broke off its answer: backend exploded");
    const json = await world.run(["--json", "hi"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "error" });
  });

  it("is one also where nothing else comes", async () => {
    const world = await answering(bytes(event('{"message": "backend exploded"}')));
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(8);
    expect(stderr).toContain("backend exploded");
  });

  it("is none where its data is the packet of a failed tool", async () => {
    const failed = '{"placement":{"turn_index":0},"obj":{"type":"error"}}';
    const world = await answering(
      bytes(event(failed), `data: ${text("one")}\n`, `data: ${stop}\n`),
    );
    expect(await world.run(["hi"])).toMatchObject({ code: 0, stdout: "one\n" });
  });
});
