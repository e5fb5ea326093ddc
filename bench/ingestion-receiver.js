// Answers every upload with one constant result and every GET with a listing of one connector (cc_pair_id 2).
// By hand on a socket, because a Node HTTP server would be slower than what is measured.
// Argument: milliseconds that an answer takes. Writes a line each 50,000 uploads.
import { createServer } from "node:net";
import { listing, result } from "./ingestion-answers.js";

const latencyMs = Number(process.argv[2] ?? 0);
const reportEach = 50_000;
const headEnd = "\r\n\r\n";

function toAnswer(value) {
  const body = JSON.stringify(value);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  return Buffer.from(head + headEnd + body);
}

const listingAnswer = toAnswer(listing);
const resultAnswer = toAnswer(result);
let uploads = 0;

function answer(socket, isGet) {
  const bytes = isGet ? listingAnswer : resultAnswer;
  if (latencyMs > 0) setTimeout(() => socket.write(bytes), latencyMs);
  else socket.write(bytes);
  if (!isGet && ++uploads % reportEach === 0) console.log(`uploads ${uploads}`);
}

function serve(socket) {
  let isGet = false;
  let inBody = false;
  let missing = 0;
  let cutHead = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (data) => {
    const chunk = cutHead.length > 0 ? Buffer.concat([cutHead, data]) : data;
    cutHead = Buffer.alloc(0);
    let at = 0;
    while (at < chunk.length) {
      if (!inBody) {
        const end = chunk.indexOf(headEnd, at);
        if (end < 0) {
          cutHead = Buffer.from(chunk.subarray(at));
          return;
        }
        const head = chunk.latin1Slice(at, end);
        at = end + headEnd.length;
        missing = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
        isGet = head.startsWith("GET ");
        inBody = true;
      }
      const taken = Math.min(missing, chunk.length - at);
      at += taken;
      missing -= taken;
      if (missing > 0) return;
      inBody = false;
      answer(socket, isGet);
    }
  });
}

const server = createServer({ noDelay: true }, serve);
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
