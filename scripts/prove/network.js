// A bad line between the program and the service: pieces of any size, pauses, resets at any byte.
import { connect, createServer } from "node:net";
import { inParallel, randomOf } from "./program.js";
import { heal, makeWorld, scenarios } from "./scenarios.js";
import { runTests } from "./vitest.js";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Sends what comes from one side to the other in pieces, with pauses; breaks both after some bytes. */
async function carry(from, to, { random, piece, delayMs, breakAt }) {
  let passed = 0;
  for await (const bytes of from) {
    for (let at = 0; at < bytes.length;) {
      const length = 1 + Math.floor(random() * piece);
      to.write(bytes.subarray(at, at + length));
      at += length;
      passed += length;
      if (passed > breakAt) {
        from.resetAndDestroy();
        to.resetAndDestroy();
        return;
      }
      if (delayMs > 0 && random() < 0.2) await pause(random() * delayMs);
    }
  }
  to.end();
}

/** Starts the line to an address. `isBad` switches it; `breaks` counts connections that it broke. */
function startLine(random) {
  const line = { isBad: false, breaks: 0 };
  line.front = async (url) => {
    const { port } = new URL(url);
    const server = createServer((socket) => {
      socket.on("error", () => {});
      const onward = connect(Number(port), "127.0.0.1").on("error", () => socket.destroy());
      if (!line.isBad) return void socket.pipe(onward).pipe(socket);
      const isBroken = random() < 0.25;
      if (isBroken) line.breaks++;
      const breakAt = () => (isBroken ? random() * 3000 : Infinity);
      const manner = { random, piece: random() < 0.3 ? 8 : 600, delayMs: random() * 8 };
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ]) {
        carry(from, to, { ...manner, breakAt: breakAt() }).catch(() => to.destroy());
      }
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    return {
      url: `http://127.0.0.1:${server.address().port}`,
      close: () => server.close(),
    };
  };
  return line;
}

const chat = ["chat", "A question"];
const list = ["connectors", "list", "--json"];

/** A command whose output is whole or whose exit code is not 0. A question is asked at most once. */
async function readOnce(world, args, whole, codes) {
  const begun = world.server.requests.length;
  const ran = await world.run(args);
  const asked = world.server.requests.slice(begun).filter(({ path }) => /send-chat/.test(path));
  if (asked.length > 1) return `the question was asked ${asked.length} times`;
  if (ran.code === 0) return ran.stdout === whole ? undefined : `exit 0 with: ${ran.stdout}`;
  return codes.includes(ran.code) ? undefined : `it ended with ${ran.code}: ${ran.stderr}`;
}

async function uploadOnce(world, line) {
  const args = scenarios.ingest.prepare(world);
  const { code, stderr } = await world.run(args);
  if (![0, 5, 7, 8, 10].includes(code)) return `it ended with ${code}: ${stderr}`;
  line.isBad = false;
  return await heal(world, scenarios.ingest);
}

/** Plays a round of upload, listing and question over a bad line. Resolves with what is wrong. */
async function round(world, line, wholes) {
  const plays = {
    list: () => readOnce(world, list, wholes.list, [5, 7, 8]),
    chat: () => readOnce(world, chat, wholes.chat, [5, 7, 8, 11]),
    ingest: () => uploadOnce(world, line),
  };
  for (const [name, play] of Object.entries(plays)) {
    line.isBad = true;
    const problem = await play();
    line.isBad = false;
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}

/** The tests of the network once, and random lines for the rest of the time. */
export async function networkPart({ seconds, seed }) {
  const begun = performance.now();
  const { passed, failed } = await runTests(["test/e2e/network"], {});
  const violated = failed.map(({ name, text }) => ({
    what: `${name}\n${text}`,
    replay: "npx vitest run test/e2e/network",
  }));
  const left = Math.max(seconds / 3, seconds - (performance.now() - begun) / 1000);
  const counts = { rounds: 0, breaks: 0 };
  const end = performance.now() + left * 1000;
  await inParallel([1, 2], { seconds, workers: 2 }, async (_item, at) => {
    const random = randomOf(Number(seed) + at);
    const line = startLine(random);
    const world = await makeWorld(random, line.front);
    try {
      const wholes = { list: (await world.run(list)).stdout, chat: (await world.run(chat)).stdout };
      while (performance.now() < end) {
        const problem = await round(world, line, wholes).catch((error) => error.stack);
        counts.rounds++;
        if (problem === undefined) continue;
        violated.push({ what: problem, replay: `npm run prove -- network --seed ${seed}` });
        break;
      }
      counts.breaks += line.breaks;
    } finally {
      world.close();
    }
  });
  return {
    tried: [
      `${passed + failed.length} tests of proxies, certificates, addresses and names`,
      `${counts.rounds} rounds of a listing, a question and an upload over a line that cuts, delays and breaks (${counts.breaks} connections broken)`,
    ],
    held: [
      "an output was whole or the exit code was not 0; no question was asked twice",
      "uploads went on over a good line, and the service then held what the folder says",
    ],
    violated,
  };
}
