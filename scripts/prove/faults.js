// The conformance table: each class of request meets each sequence of faults, in the real program.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { casesNamed, inParallel, key, makePlace, recordedIn, runProgram } from "./program.js";
import { json, startServer } from "./server.js";

const page = { files: { "a.md": "# A\n\nText of a page.\n" } };
const ingest = ["ingest", "a.md", "--cc-pair-id", "2"];

/** Each class: the command, which of its requests meet the faults, and what happens before. */
const classes = {
  list: { args: ["connectors", "list"], target: /^GET .*\/connector\/status/ },
  "look-up": {
    args: ["search", "word", "--via", "keyword"],
    target: /^POST \/api\/admin\/search/,
    dialect: "onyx",
  },
  ingest: { ...page, args: ingest, target: /^POST .*-api\/ingestion/ },
  run: {
    files: { ...page.files, "b.md": "# B\n\nText.\n", "c.md": "# C\n\nText.\n" },
    args: ["ingest", "a.md", "b.md", "c.md", "--cc-pair-id", "2", "--concurrency", "1"],
    target: /^POST .*-api\/ingestion/,
  },
  upload: { ...page, args: ["files", "upload", "a.md", "--no-wait"], target: /^POST .*\/upload/ },
  chat: { args: ["chat", "A question"], target: /^POST .*\/send-chat-message/ },
  whole: { args: ["chat", "--no-stream", "A question"], target: /^POST .*\/send-chat-message/ },
  delete: {
    files: { ...page.files, "b.md": "# B\n\nText of another page.\n" },
    dialect: "onyx",
    before: [["ingest", "a.md", "b.md", "--cc-pair-id", "2"]],
    removes: "b.md",
    args: ["prune", "--yes"],
    target: /^DELETE /,
  },
  get: { args: ["api", "echo"], target: /^GET \/api\/echo/ },
  post: { args: ["api", "POST", "echo", "-f", "a=b"], target: /^POST \/api\/echo/ },
};

const status = (code, headers = {}) => json({ detail: `injected ${code}` }, code, headers);
const html = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: Buffer.from("<!doctype html><title>Sign in</title>"),
};
const inOneSecond = () => {
  const date = (ms) => new Date(ms).toUTCString();
  // The date of the service counts, not the one of this machine.
  const then = Date.UTC(2001, 0, 1);
  return status(429, { date: date(then), "retry-after": date(then + 1000) });
};

/** Words of the table; all others are statuses or breakages of the server. */
const answers = {
  html: () => html,
  empty: () => ({
    ...html,
    headers: { "content-type": "application/json" },
    body: Buffer.alloc(0),
  }),
  "other shape": () => json({ ok: "maybe" }),
  "429 wait 1": () => status(429, { "retry-after": "1" }),
  "429 date": inOneSecond,
  "429 wait 86400": () => status(429, { "retry-after": "86400" }),
  "503 wait 1": () => status(503, { "retry-after": "1" }),
  redirect: (away) => status(302, { location: `${away}/api/stolen` }),
  "redirect with body": (away) => status(307, { location: `${away}/api/stolen` }),
};

/**
 * By hand from the policy of retries: attempts/exit for each class. "once": the first attempt meets it,
 * the second one a healthy service. "·" is a case that the class cannot have.
 */
const table = `
sequence                  | list | look-up | ingest | upload | chat | whole | delete | get  | post
healthy                   | 1/0  | 1/0     | 1/0    | 1/0    | 1/0  | 1/0   | 1/0    | 1/0  | 1/0
refused                   | 4/5  | 4/5     | ·      | 3/5    | 3/5  | 3/5   | ·      | 4/5  | 3/5
reset once                | 2/0  | 2/0     | 2/0    | 1/5    | 1/11 | 1/11  | 2/0    | 2/0  | 1/5
reset                     | 4/5  | 4/5     | 10/10  | 1/5    | 1/11 | 1/11  | 4/10   | 4/5  | 1/5
reset after headers once  | 2/0  | 2/0     | 2/0    | 1/5    | 1/11 | 1/11  | 2/0    | 1/5  | 1/5
reset in body once        | 2/0  | 2/0     | 2/0    | 1/5    | 1/11 | 1/11  | 2/0    | 1/5  | 1/5
cut once                  | 2/0  | 2/0     | 2/0    | 1/5    | 1/11 | 1/11  | 2/0    | 1/5  | 1/5
stall once                | 2/0  | 2/0     | 2/0    | 1/7    | 1/11 | 1/11  | 2/0    | 2/0  | 1/7
stall                     | 4/7  | 4/7     | 10/10  | 1/7    | 1/11 | 1/11  | 4/10   | 4/7  | 1/7
garbage once              | 2/0  | 2/0     | 2/0    | 1/8    | 1/11 | 1/11  | 2/0    | 2/0  | 1/8
408 once                  | 2/0  | 2/0     | 2/0    | 1/7    | 1/7  | 1/7   | 2/0    | 2/0  | 1/7
429 once                  | 2/0  | 2/0     | 2/0    | 2/0    | 2/0  | 2/0   | 2/0    | 2/0  | 2/0
429 wait 1 once           | 2/0  | 2/0     | 2/0    | 2/0    | 2/0  | 2/0   | 2/0    | 2/0  | 2/0
429 date once             | 2/0  | 2/0     | 2/0    | 2/0    | 2/0  | 2/0   | 2/0    | 2/0  | 2/0
429                       | 4/6  | 4/6     | 10/10  | 3/6    | 3/6  | 3/6   | 4/10   | 4/6  | 3/6
429 wait 86400            | 1/6  | 1/6     | 1/6    | 1/6    | 1/6  | 1/6   | 1/6    | 1/6  | 1/6
500 once                  | 2/0  | 2/0     | 2/0    | 1/8    | 1/8  | 1/8   | 2/0    | 2/0  | 1/8
500                       | 4/8  | 4/8     | 6/10   | 1/8    | 1/8  | 1/8   | 4/10   | 4/8  | 1/8
502 once                  | 2/0  | 2/0     | 2/0    | 1/8    | 1/8  | 1/8   | 2/0    | 2/0  | 1/8
503 once                  | 2/0  | 2/0     | 2/0    | 1/8    | 1/8  | 1/8   | 2/0    | 2/0  | 1/8
503 wait 1 once           | 2/0  | 2/0     | 2/0    | 2/0    | 2/0  | 2/0   | 2/0    | 2/0  | 2/0
503                       | 4/8  | 4/8     | 10/10  | 1/8    | 1/8  | 1/8   | 4/10   | 4/8  | 1/8
504 once                  | 2/0  | 2/0     | 2/0    | 1/7    | 1/7  | 1/7   | 2/0    | 2/0  | 1/7
html                      | 2/8  | 2/8     | 2/8    | 1/8    | 1/8  | 1/8   | ·      | 1/8  | 1/8
html once                 | 2/0  | 2/0     | 2/0    | 1/8    | 1/8  | 1/8   | ·      | 1/8  | 1/8
empty                     | 2/8  | 2/8     | 2/8    | 1/8    | 1/11 | 1/11  | ·      | 1/0  | 1/0
other shape               | 2/8  | 2/8     | 2/8    | 1/8    | 1/8  | 1/8   | ·      | 1/0  | 1/0
400                       | 1/2  | 1/2     | 1/10   | 1/2    | 1/2  | 1/2   | 1/10   | 1/2  | 1/2
401                       | 1/4  | 1/4     | 1/4    | 1/4    | 1/4  | 1/4   | 1/4    | 1/4  | 1/4
403                       | 1/4  | 1/4     | 1/4    | 1/4    | 1/4  | 1/4   | 1/4    | 1/4  | 1/4
404                       | 1/9  | 1/9     | 1/9    | 1/9    | 1/9  | 1/9   | 1/9    | 1/9  | 1/9
409 once                  | 1/2  | 1/2     | 2/0    | 1/2    | 1/2  | 1/2   | 1/10   | 1/2  | 1/2
413                       | 1/2  | 1/2     | 1/10   | 1/2    | 1/2  | 1/2   | 1/10   | 1/2  | 1/2
501                       | 1/8  | 1/8     | 1/8    | 1/8    | 1/8  | 1/8   | 1/8    | 1/8  | 1/8
redirect                  | 1/8  | 1/8     | 1/8    | 1/8    | 1/8  | 1/8   | 1/8    | 1/8  | 1/8
redirect with body        | 1/8  | 1/8     | 1/8    | 1/8    | 1/8  | 1/8   | 1/8    | 1/8  | 1/8
`;

/** Faults in the middle of an upload of three documents, one at a time: the first one is accepted. */
const later = [
  { sequence: "401 later", attempts: 2, exit: 4, sent: 1 },
  { sequence: "403 later", attempts: 2, exit: 4, sent: 1 },
  { sequence: "404 later", attempts: 2, exit: 9, sent: 1 },
  { sequence: "redirect later", attempts: 2, exit: 8, sent: 1 },
  { sequence: "422 later", attempts: 3, exit: 10, sent: 1 },
  { sequence: "429 wait 86400 later", attempts: 2, exit: 6, sent: 1 },
].map((each) => ({ ...each, name: "run" }));

/** All cases: { name, sequence, attempts, exit, sent }; `sent`: how many documents are recorded as sent. */
export function casesOf(text = table) {
  const [header, ...rows] = text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  const cases = rows.flatMap(([sequence, ...cells]) =>
    cells.flatMap((cell, at) => {
      if (cell === "·") return [];
      const [attempts, exit] = cell.split("/").map(Number);
      return [{ name: header[at + 1], sequence, attempts, exit, sent: exit === 0 ? 1 : 0 }];
    }),
  );
  return [...cases, ...later];
}

/** The fault of the n-th request (from 1) of a sequence. */
function faultAt(sequence, n, away) {
  const [, word, when] = /^(.*?)(?: (once|later))?$/.exec(sequence);
  if (word === "healthy" || (when === "once" && n > 1) || (when === "later" && n === 1)) {
    return undefined;
  }
  if (answers[word]) return answers[word](away);
  return /^\d+$/.test(word) ? status(Number(word)) : word;
}

/** What is wrong with what the state recorded after an upload. */
async function recordProblem(place, { sent }, documents) {
  const recorded = (await recordedIn(place)).filter(({ status: is }) => is === "sent");
  if (recorded.length !== sent) return `the state records ${recorded.length} documents as sent`;
  const lost = recorded.find(({ id }) => !documents.has(id));
  return lost && `${lost.id} is recorded as sent, and the service does not have it`;
}

/** Plays a case. Returns what differs from the table, as lines. */
export async function playCase(each) {
  const { name, sequence, attempts, exit } = each;
  const { args, target, before = [], removes, ...given } = classes[name];
  // An empty body asks which endpoints there are: it sends nothing.
  const isTarget = ({ method, path, body }) => target.test(`${method} ${path}`) && body !== "{}";
  const away = await startServer();
  let isFaulty = false;
  let count = 0;
  const server = await startServer((request) =>
    isFaulty && isTarget(request) ? faultAt(sequence, ++count, away.url) : undefined,
  );
  const place = makePlace({ ...given, url: server.url });
  try {
    for (const command of before) await runProgram(command, place);
    if (removes) rmSync(join(place.folder, removes));
    isFaulty = true;
    const begun = server.requests.length;
    if (sequence === "refused") server.close();
    const timeout = sequence.startsWith("stall") ? ["--timeout", "1"] : [];
    const ran = await runProgram([...args, ...timeout, "--verbose"], place);
    const arrived = server.requests.slice(begun).filter(isTarget);
    const announced = ran.stderr.match(/ attempt \d+/g)?.length ?? 0;
    const seen = sequence === "refused" ? announced : arrived.length;
    const problems = [];
    if (seen !== attempts || ran.code !== exit) {
      problems.push(`${seen} attempts and exit ${ran.code}, not ${attempts} and ${exit}`);
    }
    if (ran.hung) problems.push("it did not end");
    const wait = arrived.length > 1 ? arrived[1].at - arrived[0].at : Infinity;
    if (/wait 1|date/.test(sequence) && wait < 1000) problems.push(`waited ${Math.round(wait)} ms`);
    if (away.requests.length > 0) problems.push("a request went to another origin");
    if ((ran.stdout + ran.stderr).includes(key)) problems.push("the key is shown");
    if (ran.code !== 0 && !/^error: |failed/m.test(ran.stderr)) problems.push("no reason is given");
    if (name === "ingest" || name === "run") {
      const wrong = await recordProblem(place, each, server.documents);
      if (wrong) problems.push(wrong);
    }
    return problems.length === 0 ? [] : [...problems, ran.stderr.trim()];
  } finally {
    server.close();
    away.close();
    place.remove();
  }
}

const nameOf = ({ name, sequence }) => `${name} ${sequence}`;

/** Plays the whole table, in the order of a seed. */
export async function faultsPart({ seconds, case: only }) {
  const cases = casesNamed(casesOf(), nameOf, only);
  const violated = [];
  const played = await inParallel(cases, { seconds, workers: 4 }, async (each) => {
    const [problem, ...more] = await playCase(each);
    if (problem === undefined) return;
    const named = nameOf(each);
    const replay = `npm run prove -- faults --case "${named}"`;
    violated.push({ what: [`${named}: ${problem}`, ...more].join("\n"), replay });
  });
  return {
    tried: [
      `${played} of ${cases.length} cases: ${Object.keys(classes).length} classes of requests, each with the faults that it can meet`,
    ],
    held: [
      "attempts, waits, exit codes and records are those of the table; no key and no request went elsewhere",
    ],
    violated,
  };
}
