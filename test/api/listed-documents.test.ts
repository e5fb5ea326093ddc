import { afterEach, describe, expect, it } from "vitest";
import { listDocuments } from "../../src/api/listed-documents.ts";
import { clientSockets, holdTime, turn, until } from "../held-time.ts";
import { closeAll, openClient, startHttp } from "./support.ts";

afterEach(closeAll);

const entry = (id: string): object => ({ document_id: id, semantic_id: 'a "]," b\\', link: null });

/** Lists from a service that sends `pieces` one after the other. */
async function list(pieces: readonly (string | Uint8Array)[], cut = false): Promise<string[]> {
  const { url } = await startHttp((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    // Cut only after the head has left: before it, nothing was answered.
    for (const piece of pieces) response.write(piece, () => cut && response.destroy());
    if (!cut) response.end();
  });
  const ids: string[] = [];
  for await (const batch of listDocuments(openClient(url, { dialect: "onyx" }), 2)) {
    ids.push(...batch);
  }
  return ids;
}

describe("listDocuments", () => {
  it("reads a list in pieces of any size", async () => {
    const names = ["handbook%2Fleave.md", "a,[{}]b", 'quote"\\', "ü€😀", ""];
    const bytes = Buffer.from(JSON.stringify(names.map(entry), undefined, 1));
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await list(pieces)).toEqual(names);
    expect(await list([" [\n", "] "])).toEqual([]);
  });

  it.each([
    ["no end", '[{"document_id":"a"}'],
    ["half an element", '[{"document_id":"a"},{"docu'],
    ["nothing", ""],
    ["an object", '{"document_id":"a"}'],
    ["an error under 200", '{"detail":"no"}'],
    ["a page", "<!doctype html>"],
    ["two lists", "[][]"],
    ["text after the list", "[] x"],
    ["a comma too many", '[{"document_id":"a"},]'],
    ["an empty element", '[,{"document_id":"a"}]'],
    ["an element without an id", '[{"id":"a"}]'],
    ["an id that is no text", '[{"document_id":7}]'],
    ["brackets that do not match", '[{"document_id":"a"]}'],
    ["invalid UTF-8", Buffer.from('[{"document_id":"a\xff"}]', "latin1")],
  ])("refuses a damaged list: %s", async (_name, body) => {
    await expect(list([body])).rejects.toMatchObject({ exit: "server-error" });
  });

  it("refuses a part of a list", async () => {
    const { url } = await startHttp((_request, response) => void response.writeHead(206).end("[]"));
    const documents = listDocuments(openClient(url, { dialect: "onyx" }), 2);
    await expect(documents.next()).rejects.toMatchObject({
      exit: "server-error",
      message: expect.stringContaining("(status 206)"),
    });
  });

  it.each([
    ["stands still", 0, 31],
    ["arrives byte by byte", 20_000, 301],
  ])("has a limit for a list that %s", async (_name, dripMs, seconds) => {
    const pass = holdTime();
    const { url } = await startHttp((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[");
      if (dripMs > 0) setInterval(() => response.write(" "), dripMs).unref();
    });
    const documents = listDocuments(openClient(url, { dialect: "onyx" }), 2);
    let error: unknown;
    const end = documents.next().catch((reason: unknown) => void (error = reason));
    const sockets = clientSockets();
    await until(() => sockets.some(({ bytesRead }) => bytesRead > 0));
    await turn();
    for (let second = 0; second < seconds && error === undefined; second++) {
      pass(1000);
      await turn();
      await turn();
    }
    await end;
    expect(error).toMatchObject({ exit: "timeout" });
  });

  it("refuses a list that was cut", async () => {
    await expect(list(['[{"document_id":"a"}'], true)).rejects.toMatchObject({
      exit: "server-error",
      message: expect.stringContaining("cut"),
    });
  });

  it("names the dialect that cannot list", async () => {
    const { url } = await startHttp((_request, response) => void response.end("[]"));
    const documents = listDocuments(openClient(url, { dialect: "standard" }), 2);
    await expect(documents.next()).rejects.toMatchObject({
      exit: "not-found",
      message: expect.stringContaining("standard"),
    });
  });
});
