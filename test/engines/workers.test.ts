import { setTimeout as wait } from "node:timers/promises";
import { join } from "node:path";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FaultRule } from "../../src/sandbox/http/faults.ts";
import { patienceMs } from "../patience.ts";
import { hasPostgres, newDatabase } from "../postgres.ts";
import { startTestService, writeFiles } from "../service.ts";
import { makeCheckout, run, sentTwice, start, withProgram, type Process } from "./place.ts";

const ingestion = { method: "POST", path: "/api/svc-api/ingestion" };

/** A checkout with a shared record, and how to start a worker of it on a machine of its own. */
async function prepareWorkers(count: number) {
  const rules: FaultRule[] = [];
  /** When the service accepted each document, in milliseconds. */
  const accepted: number[] = [];
  const { url, sql } = await newDatabase();
  const documents = Array.from({ length: count }, (_, n) => [`docs/${n}.md`, `# ${n}\n\nText.\n`]);
  const service = await startTestService({
    files: Object.fromEntries(documents),
    faults: { rules },
    sandbox: { onDocument: () => accepted.push(performance.now()) },
  });
  makeCheckout(service.folder);
  const config = {
    state: { shared: { url: { env: "RECORD" }, project: "handbook", leaseSeconds: 6 } },
  };
  writeFiles(service.env["XDG_CONFIG_HOME"]!, { "knowctl/config.json": JSON.stringify(config) });
  const place = withProgram({ ...service, env: { ...service.env, RECORD: url } });
  expect(await run("knowctl", ["state", "share", "--yes"], place)).toMatchObject({ code: 0 });
  const startWorker = (name: string, ...flags: string[]): Process => {
    const state = ["--state", join(place.folder, "..", name)];
    const args = ["ingest", "docs", "--claim", "--cc-pair-id", "2", ...state, ...flags];
    return start("knowctl", args, place);
  };
  return { place, rules, accepted, sql, startWorker, untilTrue: await connectWatcher(url) };
}

/** Asks the database on one connection until a query is true. */
async function connectWatcher(url: string): Promise<(query: string) => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return async (query) => {
    const last = Date.now() + patienceMs;
    const isTrue = async (): Promise<boolean> => {
      const { rows } = await client.query<{ found: boolean }>(
        `select ${query.replace(/ from |$/, " as found$&")}`,
      );
      return rows[0]?.found === true;
    };
    while (!(await isTrue())) {
      if (Date.now() > last) throw new Error(`never true: ${query}`);
      await wait(50);
    }
  };
}

describe.runIf(hasPostgres)("processes with --claim on one record in PostgreSQL", () => {
  it("keep one rate together", async () => {
    const [perSecond, inFlight, windowSeconds] = [30, 2, 2];
    const { place, accepted, startWorker } = await prepareWorkers(150);
    const flags = ["--rate", `${perSecond}/s`, "--concurrency", String(inFlight)];
    const workers = ["one", "two"].map((name) => startWorker(name, ...flags));
    for (const { ended } of workers) expect((await ended).code).toBe(0);
    expect(place.sandbox.ledger.documents.size).toBe(150);
    const inWindow = accepted.map(
      (from) => accepted.filter((at) => at >= from && at < from + 1000 * windowSeconds).length,
    );
    // Each for itself they would send twice as many. What a busy machine delays is at most what is in flight.
    const most = perSecond * windowSeconds + workers.length * (inFlight + perSecond / 10);
    expect(Math.max(...inWindow)).toBeLessThanOrEqual(most);
  });

  it("join their run again after they lost their lease, and send the rest", async () => {
    const { place, rules, sql, startWorker, untilTrue } = await prepareWorkers(200);
    rules.push({ when: ingestion, do: { delayMs: 500 } });
    const lost = startWorker("one");
    await untilTrue("count(*) > 0 from knowctl_claims");
    const other = startWorker("two");
    await untilTrue("count(*) = 2 from knowctl_workers");
    // As a machine that sleeps: it neither renews its lease nor sees that it has run out.
    lost.child.kill("SIGSTOP");
    const first = sql("select min(id) from knowctl_workers");
    await untilTrue(`is_gone from knowctl_workers where id = ${first}`);
    lost.child.kill("SIGCONT");
    // A third one of the same run, with documents of its own.
    await untilTrue(`count(*) > 0 from knowctl_claims where worker > ${Number(first) + 1}`);
    rules.length = 0;
    for (const { ended } of [lost, other]) expect((await ended).code).toBe(0);
    expect(sql("select accepted, failed from knowctl_runs")).toBe("200\t0");
    expect(place.sandbox.ledger.documents.size).toBe(200);
    expect(sentTwice(place.sandbox)).toBeLessThanOrEqual(64 + 8);
  });
});
