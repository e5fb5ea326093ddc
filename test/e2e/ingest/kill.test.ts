import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { forSeeds, someOf } from "../../property.ts";
import { follow } from "../../ran.ts";
import { startTestService, type TestService } from "../../service.ts";
import {
  cleanEnvironment,
  projectFolder,
  runCli,
  temporaryFolder,
  type CliResult,
} from "../../support.ts";

const total = 160;
const files = Object.fromEntries(
  Array.from({ length: total }, (_, n) => [`docs/${n}.md`, `# Document ${n}\n\nText ${n}.\n`]),
);
const ingestion = "/api/svc-api/ingestion";

/** Uploads and sends the signals to the process once the service has seen `count` documents. */
async function interruptAfter(
  service: TestService,
  count: number,
  ...signals: NodeJS.Signals[]
): Promise<CliResult> {
  return await runCli(["ingest", "docs", "--cc-pair-id", "2", "--output", "json"], {
    cwd: service.folder,
    env: service.env,
    onStart(child) {
      const watch = setInterval(() => {
        if (service.sandbox.ledger.documents.size < count) return;
        clearInterval(watch);
        for (const signal of signals) child.kill(signal);
      }, 1);
      child.once("exit", () => clearInterval(watch));
    },
  });
}

const ingest = ["ingest", "docs", "--cc-pair-id", "2"];

/** An upload as a process, beside others. */
function start({ folder: cwd, env }: TestService): Promise<CliResult> {
  return runCli(ingest, { cwd, env });
}

/** An upload that nothing disturbs. */
function upload({ folder: cwd, env }: TestService): ReturnType<typeof runHere> {
  return runHere(ingest, { cwd, env });
}

function sentTwice(service: TestService): number {
  return [...service.sandbox.ledger.documents.values()].reduce(
    (sum, all) => sum + all.length - 1,
    0,
  );
}

const slow = { rules: [{ when: { method: "POST", path: ingestion }, do: { delayMs: 5 } }] };
const inFlight = 8;
const batch = 64;

it.skipIf(process.platform === "win32")("SIGUSR1 opens no inspector", async () => {
  const binary = join(projectFolder, "bin", "knowctl.cjs");
  const cwd = temporaryFolder();
  const child = spawn(process.execPath, [binary, "sandbox", "--port", "0"], {
    cwd,
    env: cleanEnvironment(cwd),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { ended } = follow(child, "knowctl sandbox --port 0", cwd);
  await new Promise((ready) => child.stderr.once("data", ready));
  child.kill("SIGUSR1");
  // Delivered after it, so that what the first signal does is done.
  child.kill("SIGTERM");
  expect((await ended).stderr).not.toContain("Debugger listening");
});

describe("interrupted uploads", () => {
  it.each(someOf([1, 20, 70, 120, 150], 3))(
    "resumes after kill -9 at document %i",
    async (count) => {
      const service = await startTestService({ files, faults: slow });
      const killed = await interruptAfter(service, count, "SIGKILL");
      expect(killed.signal).toBe("SIGKILL");
      const resumed = await upload(service);
      expect(resumed).toMatchObject({ code: 0 });
      expect(service.sandbox.ledger.documents.size).toBe(total);
      expect(sentTwice(service)).toBeLessThanOrEqual(inFlight + batch);
    },
  );

  const signals: [NodeJS.Signals, number][] = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ];
  it.each(signals)(
    "ends gracefully on %s, with what was accepted recorded",
    async (signal, code) => {
      const service = await startTestService({ files, faults: slow });
      const stopped = await interruptAfter(service, 40, signal);
      expect(stopped.code).toBe(code);
      const result = JSON.parse(stopped.stdout) as { status: string; counts: { created: number } };
      expect(result.status).toBe("interrupted");
      expect(result.counts.created).toBe(service.sandbox.ledger.documents.size);
      expect(stopped.stderr).toContain(`interrupted by ${signal}`);
      await upload(service);
      expect(service.sandbox.ledger.documents.size).toBe(total);
      expect(sentTwice(service)).toBe(0);
    },
  );

  it("takes a signal that comes twice, as `timeout` and npm send it, for one", async () => {
    const service = await startTestService({ files, faults: slow });
    // Two of one kind may arrive as one. Both wait for the process to go on, so that neither is late.
    const signals = ["SIGSTOP", "SIGINT", "SIGTERM", "SIGCONT"] as const;
    const stopped = await interruptAfter(service, 40, ...signals);
    expect([130, 143]).toContain(stopped.code);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ status: "interrupted" });
  });

  it("ends at once, and says so, when it is interrupted again and again", async () => {
    const hangs = { rules: [{ when: { method: "POST", path: ingestion }, do: "hang" as const }] };
    const service = await startTestService({ files, faults: hangs });
    const stopped = await runCli(["ingest", "docs", "--cc-pair-id", "2"], {
      cwd: service.folder,
      env: service.env,
      onStart(child) {
        const press = setInterval(() => {
          if (service.sandbox.ledger.requestCount > 0) child.kill("SIGINT");
        }, 20);
        child.once("exit", () => clearInterval(press));
      },
    });
    expect(stopped).toMatchObject({
      code: 130,
      stderr: expect.stringContaining("stopped immediately\n"),
    });
  });

  it("shares one state between two runs at once", async () => {
    const service = await startTestService({ files, faults: slow });
    const both = await Promise.all([start(service), start(service)]);
    expect(both).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(service.sandbox.ledger.documents.size).toBe(total);
    const requests = service.sandbox.ledger.requestCount;
    expect((await upload(service)).stderr).toContain(`${total} unchanged`);
    expect(service.sandbox.ledger.requestCount).toBe(requests);
  });

  it("makes one state from four runs at once, in every round", async () => {
    await forSeeds(2, async () => {
      const files = { "docs/a.md": "A\n", "docs/b.md": "B\n" };
      const service = await startTestService({ files });
      const all = await Promise.all([1, 2, 3, 4].map(() => start(service)));
      expect(all).toMatchObject([{ code: 0 }, { code: 0 }, { code: 0 }, { code: 0 }]);
      expect((await upload(service)).stderr).toContain("2 unchanged");
    });
  });
});
