// What uploads are measured against: a bare undici Pool loop with prebuilt bodies.
// Arguments: address, documents, requests in flight.
import { createRequire } from "node:module";

const { Pool } = createRequire(import.meta.url)("undici");
const [address, count, inFlight] = process.argv.slice(2);
const documents = Number(count);
const pool = new Pool(address, { connections: Number(inFlight) });

const text = "words ".repeat(680);
const bodies = Array.from({ length: 512 }, (_, index) => {
  const id = `part/${index}.md`;
  const document = { id, semantic_identifier: id, sections: [{ text }], source: "file" };
  return Buffer.from(JSON.stringify({ document: { ...document, metadata: {} }, cc_pair_id: 2 }));
});
const headers = { "content-type": "application/json", authorization: "Bearer bench" };

let next = 0;
async function work() {
  while (next < documents) {
    const body = bodies[next++ % bodies.length];
    const answer = await pool.request({
      path: "/api/svc-api/ingestion",
      method: "POST",
      headers,
      body,
    });
    await answer.body.text();
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, work));
await pool.close();
