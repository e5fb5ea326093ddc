// A service on a bare socket: it can answer as no HTTP server would, and keeps what arrived.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { listing } from "../../bench/ingestion-answers.js";
import { projectFolder } from "../install.js";

const wire = (name) => readFileSync(join(projectFolder, "test", "fixtures", "wire", name));
const uploaded = JSON.parse(wire("uploads.json")).chatFile;
const stream = wire("answer.ndjson");
const reply = wire("reply.json");

const storedId = (id) => encodeURIComponent(id.replaceAll(" ", "_"));

/** Requests of a connection, in order; a body has a length or comes in chunks. */
async function* requestsOf(socket) {
  let bytes = Buffer.alloc(0);
  let head;
  for await (const piece of socket) {
    bytes = Buffer.concat([bytes, piece]);
    for (;;) {
      if (!head) {
        const end = bytes.indexOf("\r\n\r\n");
        if (end < 0) break;
        head = bytes.toString("latin1", 0, end);
        bytes = bytes.subarray(end + 4);
      }
      const isChunked = /^transfer-encoding: *chunked/im.test(head);
      const length = isChunked
        ? bytes.indexOf("0\r\n\r\n") + 5
        : Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if ((isChunked && length < 5) || bytes.length < length) break;
      const [method, path] = head.split(" ", 2);
      const body = bytes.toString("utf8", 0, length);
      bytes = bytes.subarray(length);
      yield { method, path, head, body, at: performance.now() };
      head = undefined;
    }
  }
}

export const json = (value, status = 200, headers = {}) => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: Buffer.from(JSON.stringify(value)),
});

/** What a healthy service answers, by method and path; `documents` holds what was ingested. */
function healthyAnswer({ method, path, body }, documents) {
  const route = `${method} ${path.split("?")[0].replace(/^\/api/, "")}`;
  if (route === "GET /manage/admin/connector/status") return json(listing);
  if (/^POST \/(?:svc|onyx)-api\/ingestion$/.test(route)) {
    const { document } = JSON.parse(body);
    const already_existed = documents.has(document.id);
    documents.set(document.id, document);
    return json({ document_id: storedId(document.id), already_existed });
  }
  if (/^GET \/onyx-api\/(?:ingestion|connector-docs\/\d+)$/.test(route)) {
    const [pair] = /(?<=connector-docs\/)\d+$/.exec(route) ?? [];
    if (!["1", "2", undefined].includes(pair)) return json({ detail: "no such pair" }, 403);
    // Pair 1 is that of documents without one.
    const held = pair === "1" ? [] : [...documents.values()];
    const rows = held.map((each) => ({
      document_id: storedId(each.id),
      semantic_id: each.semantic_identifier,
      link: null,
    }));
    return json(rows);
  }
  if (route.startsWith("DELETE /onyx-api/ingestion/")) {
    const id = decodeURIComponent(path.split("/").at(-1));
    for (const each of documents.keys()) if (storedId(each) === id) documents.delete(each);
    return json({ success: true });
  }
  if (route === "POST /admin/search") return json({ documents: [] });
  if (route === "POST /chat/send-chat-message") {
    const isStream = JSON.parse(body).stream !== false;
    if (!isStream) return { ...json({}), body: reply };
    return { status: 200, headers: { "content-type": "text/event-stream" }, body: stream };
  }
  if (route === "POST /user/projects/file/upload") return json(uploaded);
  if (path.startsWith("/api/echo")) return json({ ok: true });
  return json({ detail: "Not Found" }, 404);
}

function textOf({ status, headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const hasLength = "content-length" in headers;
  const length = hasLength ? "" : `content-length: ${body.length}\r\n`;
  return Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join("")}${length}\r\n`);
}

/** Ways to answer that are no answer of HTTP; each gets the socket and the healthy answer. */
const breakages = {
  reset: (socket) => socket.resetAndDestroy(),
  "reset after headers": (socket, answer) =>
    socket.write(textOf(answer), () => setTimeout(() => socket.resetAndDestroy(), 20)),
  "reset in body": (socket, answer) =>
    socket.write(Buffer.concat([textOf(answer), answer.body.subarray(0, 10)]), () =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    ),
  stall: () => {},
  "stall in body": (socket, answer) =>
    socket.write(Buffer.concat([textOf(answer), answer.body.subarray(0, 10)])),
  cut: (socket, answer) =>
    socket.end(Buffer.concat([textOf(answer), answer.body.subarray(0, answer.body.length - 5)])),
  garbage: (socket) => socket.end("220 mail.test ESMTP\r\n"),
};

/**
 * Starts the service. `faultOf(request)` returns what happens to a request: nothing, an answer
 * ({ status, headers, body }), or the name of a breakage. The service acts before it breaks off. Resolves with its address, the requests and the documents; call `close` at the end.
 */
export async function startServer(faultOf = () => undefined) {
  const requests = [];
  const documents = new Map();
  const sockets = new Set();
  const serve = async (socket) => {
    for await (const request of requestsOf(socket)) {
      requests.push(request);
      const fault = faultOf(request);
      if (typeof fault === "object") {
        socket.write(Buffer.concat([textOf(fault), fault.body]));
        continue;
      }
      const answer = healthyAnswer(request, documents);
      if (fault !== undefined) breakages[fault](socket, answer);
      else socket.write(Buffer.concat([textOf(answer), answer.body]));
    }
  };
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    // Whoever leaves in the middle of a request ends the loop with an error.
    serve(socket).catch(() => {});
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    documents,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
