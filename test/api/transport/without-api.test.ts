import { afterEach, describe, expect, it } from "vitest";
import { streamChat } from "../../../src/api/chat/chat.ts";
import { listConnectors } from "../../../src/api/connectors.ts";
import { upsertDocument } from "../../../src/api/documents.ts";
import { closeAll, errorOf, openClient, startHttp } from "../support.ts";

afterEach(closeAll);

/** A service that has its paths below `prefix`; its headers at `/version`. */
async function serviceAt(prefix: string, missing = "404: Not Found") {
  const keys: (string | undefined)[] = [];
  const server = await startHttp(({ url, headers }, response) => {
    const isVersion = url === `${prefix}/version`;
    if (isVersion) keys.push(headers.authorization);
    response.writeHead(isVersion ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isVersion ? { backend_version: "4.6.0" } : { detail: missing }));
  });
  return { ...server, keys };
}

const words = "the service (version 4.6.0) answers at this address without /api";

describe("a service without /api", () => {
  it("is found by /version, without a key", async () => {
    const { url, seen, keys } = await serviceAt("");
    const error = await errorOf(listConnectors(openClient(url)));
    expect(error).toMatchObject({ exit: "not-found", status: 404 });
    expect(error.message).toContain(words);
    expect(error["hints"]).toEqual([expect.stringContaining("the proxy in front of it")]);
    expect(seen).toEqual(["GET /api/manage/admin/connector/status", "GET /version"]);
    expect(keys).toEqual([undefined]);
  });

  it("is found below the path of the base URL, for a question too", async () => {
    const { url } = await serviceAt("/inner");
    const stream = streamChat(openClient(`${url}/inner`), { message: "x" });
    const error = await errorOf(stream.next());
    expect(error.message).toContain(words);
    expect(error.message).not.toContain("no such endpoint");
  });

  it("is looked for once by many uploads", async () => {
    const { url, seen } = await serviceAt("");
    const client = openClient(url);
    const errors = await Promise.all([1, 2, 3].map(() => errorOf(upsertDocument(client, "{}"))));
    for (const error of errors) expect(error.message).toContain(words);
    expect(seen.filter((each) => each === "GET /version")).toHaveLength(1);
  });

  it("is not looked for where the service lacks only what was asked for", async () => {
    const { url, seen } = await serviceAt("", "Chat session not found");
    const error = await errorOf(listConnectors(openClient(url)));
    expect(error.message).not.toContain(words);
    expect(seen).toHaveLength(1);
  });

  it.each(["/elsewhere", "/api"])("is not told with /version at %s", async (prefix) => {
    const { url } = await serviceAt(prefix);
    const error = await errorOf(listConnectors(openClient(url)));
    expect(error.message).toMatch(/404: Not Found$/);
    expect(error["hints"]).toEqual(["check the base URL and --dialect"]);
  });
});
