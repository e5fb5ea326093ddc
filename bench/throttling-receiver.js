// An ingestion service that throttles: 429 with `Retry-After: 1`. Each upload takes 20 ms.
// Argument: `none`, `tenth` (every tenth upload), or the size of a token bucket of 100/s.
// Prints the numbers of uploads and refusals on SIGTERM.
import { createServer } from "node:http";
import { listing, result } from "./ingestion-answers.js";

const latencyMs = 20;
const tokensPerMs = 100 / 1000;
const mode = process.argv[2];
const size = Number(mode);
let tokens = size;
let filledAt = performance.now();
let uploads = 0;
let refusals = 0;

function isRefused() {
  uploads += 1;
  if (mode === "none") return false;
  if (mode === "tenth") return uploads % 10 === 0;
  const now = performance.now();
  tokens = Math.min(size, tokens + (now - filledAt) * tokensPerMs);
  filledAt = now;
  if (tokens < 1) return true;
  tokens -= 1;
  return false;
}

function send(response, status, value, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    if (request.method === "GET") return send(response, 200, listing);
    const refused = isRefused();
    if (refused) refusals += 1;
    setTimeout(() => {
      if (refused) send(response, 429, { detail: "slower" }, { "retry-after": "1" });
      else send(response, 200, result);
    }, latencyMs);
  });
});
process.once("SIGTERM", () => {
  console.log(JSON.stringify({ uploads, refusals }));
  process.exit(0);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
