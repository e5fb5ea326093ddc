import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { createGate } from "../../../src/api/retry/gate.ts";
import { closeAll, createTestClock, errorOf, jsonText, openClient, startRaw } from "../support.ts";

afterEach(closeAll);

const call = { what: "look", policy: "list", method: "GET", path: "/x", key: "apiKey" } as const;
const anything = z.object({});

describe.each([
  "000 Nothing",
  "099 Odd",
  "000",
  "1000 Too long",
  "99 Short",
  "-1 Negative",
  "abc Words",
  "",
  "101 Switching Protocols",
  "100 Continue",
])("a response with the status %j", (status) => {
  it("is a fault of the transport, and asked again", async () => {
    const server = await startRaw((socket, _request, number) => {
      socket.end(jsonText({}, number === 1 ? status : "200 OK"));
    });
    await openClient(server.url).call(call, anything);
    expect(server.seen).toHaveLength(2);
  });

  it("is a fault also without a body and an end", async () => {
    const server = await startRaw((socket, _request, number) => {
      if (number > 1) socket.end(jsonText({}));
      else socket.write(`HTTP/1.1 ${status}\r\n\r\n`, () => socket.end());
    });
    await openClient(server.url).call(call, anything);
    expect(server.seen).toHaveLength(2);
  });
});

it("ends the call alone, with exit 8, if the service never answers with a status", async () => {
  const server = await startRaw((socket, request) => {
    socket.end(jsonText({}, request.includes("/odd") ? "000 Nothing" : "200 OK"));
  });
  const clock = createTestClock();
  const { signal } = new AbortController();
  const gate = createGate({ ceiling: 1, clock, signal });
  const client = openClient(server.url, { clock });
  await client.call({ ...call, gate }, anything);
  const error = await errorOf(client.call({ ...call, path: "/odd", gate }, anything));
  expect(error).toMatchObject({ exit: "server-error" });
  expect(error.message).toContain("the response is not HTTP (4 attempts)");
  await client.call({ ...call, gate }, anything);
  expect(gate.state().stopped).toBe(undefined);
});
