import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { newDatabase } from "../postgres.ts";
import { startTestService, writeFiles } from "../service.ts";
import { makeCheckout, withProgram, run, start, until, type Place, type Process } from "./place.ts";

/** What disturbs a round, beside the service, which fails every tenth request. */
export interface Round {
  documents: number;
  workers: number;
  kills: number;
  outageMs: number;
  leaseSeconds: number;
  seed: number;
}

/** What a round was, in numbers. */
export interface Played {
  killed: number;
  /** How often a document was accepted that had been accepted already. */
  twice: number;
  /** How many of these the kills explain. */
  allowed: number;
  seconds: number;
}

const inFlight = 8;
/** Most documents that a worker has taken, and so may have sent without having pushed them. */
const batch = 64;
const delayMs = 20;
const ingestion = "/api/svc-api/ingestion";

/** Numbers between 0 and 1 that the seed decides (Park and Miller's generator). */
function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const pathOf = (n: number): string => `docs/${n % 50}/${n}.md`;
const textOf = (n: number): string => `# Document ${n}\n\nText ${n}.\n`;

/** A checkout with documents, and a service that needs 20 ms and fails every tenth request. */
async function prepareRound(
  { documents, leaseSeconds }: Round,
  url: string,
  onDocument: (id: string) => void,
): Promise<Place> {
  const nth = Array.from({ length: documents }, (_, n) => 10 * (n + 1));
  const upload = { method: "POST", path: ingestion };
  const faults = {
    rules: [
      { when: { ...upload, nth }, do: { status: 500, delayMs } },
      { when: upload, do: { delayMs } },
    ],
  };
  const files = Object.fromEntries(
    Array.from({ length: documents }, (_, n) => [pathOf(n), textOf(n)]),
  );
  const service = await startTestService({
    files,
    faults,
    sandbox: { onDocument: ({ id }) => onDocument(id ?? "") },
  });
  makeCheckout(service.folder);
  const config = {
    state: { shared: { url: { env: "RECORD" }, project: "handbook", leaseSeconds } },
  };
  writeFiles(service.env["XDG_CONFIG_HOME"]!, { "knowctl/config.json": JSON.stringify(config) });
  const place = withProgram({ ...service, env: { ...service.env, RECORD: url } });
  const shared = await run("knowctl", ["state", "share", "--yes"], place);
  if (shared.code !== 0) throw new Error(`exit ${shared.code} of state share: ${shared.stderr}`);
  return place;
}

/** A time without the database. */
interface Outage {
  begunMs: number;
  /** How many documents had been accepted when it began. */
  begun: number;
  /** Resolves when the database is back. */
  isBack: Promise<void>;
  /** Whether what was accepted meanwhile has been pushed: a kill loses it no more. */
  isPushed: boolean;
}

/** So long a worker may need until it asks the database, on a busy machine. */
const startUpMs = 10_000;

/** Workers of the round; the state of each is a folder, as on a machine of its own. */
function createWorkers(place: Place, count: number, outage: () => Outage | undefined) {
  const live = new Map<string, Process>();
  const ended: { folder: string; code: number | null; stderr: string }[] = [];
  let folders = 0;
  const newFolder = (): string => {
    const folder = join(place.folder, "..", `machine-${(folders += 1)}`);
    mkdirSync(folder);
    return folder;
  };
  const launch = (folder: string): void => {
    const state = ["--state", join(folder, "state"), "--quiet"];
    const worker = start(
      "knowctl",
      ["ingest", "docs", "--claim", "--cc-pair-id", "2", ...state],
      place,
    );
    const begunMs = performance.now();
    live.set(folder, worker);
    void worker.ended.then(async ({ code, stderr }) => {
      // A killed one has a follower in the same folder, or was taken off the list.
      if (live.get(folder) !== worker) return;
      const current = outage();
      // Without its database nobody begins: the runner tries again. Who has begun goes on.
      if (code === 5 && current && begunMs > current.begunMs - startUpMs) {
        await current.isBack;
        if (live.get(folder) === worker) launch(folder);
        return;
      }
      live.delete(folder);
      ended.push({ folder, code, stderr });
    });
  };
  for (let n = 0; n < count; n++) launch(newFolder());
  return {
    live,
    ended,
    /** Ends a worker as the loss of its machine does; another one begins, on the same disk or an empty one. */
    async replace(random: () => number): Promise<void> {
      const folders = [...live.keys()];
      const folder = folders[Math.floor(random() * folders.length)];
      if (folder === undefined) return;
      const worker = live.get(folder)!;
      live.delete(folder);
      worker.kill();
      await worker.ended;
      launch(random() < 0.5 ? folder : newFolder());
    },
  };
}

interface Happening {
  /** After so many accepted documents. */
  after: number;
  kind: "kill" | "outage";
}

/** When the kills and the outage come: anywhere in the upload. */
function happenings({ documents, kills, outageMs }: Round, random: () => number): Happening[] {
  const at = (): number => Math.floor(documents * (0.02 + 0.9 * random()));
  const all: Happening[] = Array.from({ length: kills }, () => ({ after: at(), kind: "kill" }));
  if (outageMs > 0) all.push({ after: at(), kind: "outage" });
  return all.toSorted((a, b) => a.after - b.after);
}

/** What a round is played with. */
interface Table {
  round: Round;
  random: () => number;
  place: Place;
  database: Awaited<ReturnType<typeof newDatabase>>;
  /** When the service accepted a document, each time. */
  accepted: number[];
}

/** Stops the database for a while, as its restart does or its crash. */
function breakDown({ round, random, database, place, accepted }: Table): Outage {
  const { server, sql } = database;
  const recorded = (): number =>
    Number(sql("select count(*) from knowctl_rows where document is not null"));
  const outage: Outage = {
    begunMs: performance.now(),
    begun: accepted.length,
    isBack: Promise.resolve(),
    isPushed: false,
  };
  const signal = random() < 0.5 ? "SIGINT" : "SIGQUIT";
  const awaitPush = async (): Promise<void> => {
    const sent = place.sandbox.ledger.documents.size;
    for (let looks = 0; looks < 100 && recorded() < sent; looks++) await wait(300);
    outage.isPushed = true;
  };
  outage.isBack = (async () => {
    await server.stop(signal);
    await wait(round.outageMs);
    await server.start();
    // Nobody awaits it: it only makes the bound of later kills smaller.
    void awaitPush().catch(() => {});
  })();
  return outage;
}

/** Runs the workers to their end, with kills and the outage. Resolves with what the kills explain. */
async function disturb(table: Table): Promise<Pick<Played, "killed" | "allowed">> {
  const { round, random, place, accepted } = table;
  const { documents } = place.sandbox.ledger;
  let [killed, allowed] = [0, 0];
  let outage: Outage | undefined;
  const workers = createWorkers(place, round.workers, () => outage);
  const problem = (): string => {
    const said = [...workers.live.values()].map((each) => each.stderr()).join("\n");
    return `${documents.size} of ${round.documents} documents\n${said}`;
  };
  for (const { after, kind } of happenings(round, random)) {
    await until(() => documents.size >= after || workers.live.size === 0, problem);
    if (kind === "outage") {
      outage = breakDown(table);
      continue;
    }
    if (workers.live.size === 0) continue;
    // Without its database a worker keeps what it has recorded: what it sent since then is lost with it.
    const unpushed = outage && !outage.isPushed ? accepted.length - outage.begun : 0;
    killed += 1;
    allowed += batch + inFlight + unpushed;
    await workers.replace(random);
  }
  await outage?.isBack;
  await until(() => workers.live.size === 0, problem);
  const wrong = workers.ended.find(({ code }) => code !== 0);
  if (wrong) throw new Error(`exit ${wrong.code} of a worker: ${wrong.stderr}`);
  return { killed, allowed };
}

/** Throws if the service does not have a document, or has it with another text. */
function checkDocuments({ round, place }: Table): void {
  for (let n = 0; n < round.documents; n++) {
    const bodies = place.sandbox.ledger.documents.get(pathOf(n));
    const text = bodies?.at(-1)?.document.sections[0]?.text;
    if (text !== textOf(n)) throw new Error(`document ${n} is lost: the service has ${text}`);
  }
}

/** Throws if a run from an empty folder sends something. */
async function checkLaterRun({ place, accepted }: Table): Promise<void> {
  const before = accepted.length;
  const state = ["--state", join(place.folder, "..", "later")];
  const { code, stderr } = await run(
    "knowctl",
    ["ingest", "docs", "--cc-pair-id", "2", ...state],
    place,
  );
  if (code !== 0) throw new Error(`exit ${code} of the later run: ${stderr}`);
  const sent = accepted.length - before;
  if (sent > 0) throw new Error(`a later run from an empty folder sent ${sent} documents`);
}

/**
 * Plays one round: workers claim the documents, are killed at random and replaced, and the database
 * is stopped for a while. Throws what is wrong at its end: a document that the service does not have
 * or has with another text, more documents sent twice than the kills explain, an exit code other than
 * 0, and a later run from an empty folder that sends something.
 */
export async function playRound(round: Round): Promise<Played> {
  const begun = performance.now();
  const database = await newDatabase();
  const accepted: number[] = [];
  const place = await prepareRound(round, database.url, () => accepted.push(Date.now()));
  const table = { round, random: randomOf(round.seed), place, database, accepted };
  const { killed, allowed } = await disturb(table);
  checkDocuments(table);
  const twice = accepted.length - round.documents;
  if (twice > allowed) {
    throw new Error(`${twice} documents were sent twice; ${killed} kills explain ${allowed}`);
  }
  await checkLaterRun(table);
  return { killed, twice, allowed, seconds: (performance.now() - begun) / 1000 };
}
