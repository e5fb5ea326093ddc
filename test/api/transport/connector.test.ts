import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { streamChat } from "../../../src/api/chat/chat.ts";
import { listConnectors } from "../../../src/api/connectors.ts";
import { holdTime } from "../../held-time.ts";
import { closeAll, errorOf, openClient } from "../support.ts";

afterEach(closeAll);

/** Takes connections and never says a word: no handshake ends, no tunnel opens. */
async function startSilent() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => {}).resume());
    server.emit("taken", socket);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

describe.each<[string, (port: number) => [url: string, options: { proxy?: string }]]>([
  ["a TLS handshake", (port) => [`https://localhost:${port}`, {}]],
  ["a tunnel", (port) => ["https://service.test", { proxy: `http://127.0.0.1:${port}` }]],
])("%s that never ends", (_name, addressOf) => {
  it("is given up with the client, not held to its own limit", async () => {
    const { server, port } = await startSilent();
    const [url, options] = addressOf(port);
    const abort = new AbortController();
    const client = openClient(url, { ...options, signal: abort.signal });
    const asked = errorOf(listConnectors(client));
    const [socket] = (await once(server, "taken")) as [Socket];
    abort.abort(new Error("stop"));
    expect((await asked).message).toBe("stop");
    const closed = once(socket, "close");
    await client.close();
    await closed;
  });

  it("cannot have taken a question: it may be asked again and is a timeout", async () => {
    const pass = holdTime();
    const { server, sockets, port } = await startSilent();
    server.on("taken", () => pass(110));
    const [url, options] = addressOf(port);
    const client = openClient(url, { ...options, timeoutMs: 100 });
    const error = await errorOf(streamChat(client, { message: "hi" }).next());
    expect(error).toMatchObject({ exit: "timeout", code: "HEADERS_TIMEOUT" });
    expect(error.message).not.toContain("delivered");
    expect(sockets).toHaveLength(3);
  });
});
