import { expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { clientSockets, holdTime, turn } from "../../held-time.ts";
import { main, runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";

interface Slow {
  pages: number;
  /** Beginning of the path of the answers that are slow. */
  path: string;
  how: FaultRule["do"];
}

/** Runs a command against a service with slow answers. `seconds` passed while it waited. */
async function runSlow(line: string, { pages, path, how }: Slow) {
  let waiting = 0;
  // Time is held: a wait ends when the test lets it pass.
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    waiting++;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        signal?.removeEventListener("abort", end);
        resolve();
      };
      setTimeout(end, ms);
      signal?.addEventListener("abort", end);
    });
    waiting--;
  };
  const names = Array.from({ length: pages }, (_, index) => `docs/${index}.md`);
  const service = await startTestService({
    dialect: "onyx",
    files: Object.fromEntries(names.map((name) => [name, `# ${name}\n\nIts own text.\n`])),
    faults: { rules: [{ when: { path }, do: how }] },
    sandbox: { clock: { now: Date.now, random: Math.random, sleep } },
  });
  const { folder: cwd, env, sandbox } = service;
  const sent = await runHere("ingest docs --cc-pair-id 2 --quiet".split(" "), { cwd, env });
  expect(sent.code).toBe(0);
  await sandbox.idle();
  const sockets = clientSockets();
  const read = (): number => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  const pass = holdTime();
  const context = { ...createTestContext({ cwd, env }), sleep };
  let code: number | undefined;
  const end = main(line.split(" "), context).then((value) => (code = value));
  let seconds = 0;
  for (let quiet = 0, before = 0; code === undefined; before = read()) {
    await turn();
    quiet = waiting > 0 && read() === before ? quiet + 1 : 0;
    if (quiet < 50) continue;
    pass(1000);
    seconds++;
    quiet = 0;
  }
  await end;
  const asked = sandbox.ledger.requests.filter((each) => each.path.startsWith(path)).length;
  return { code, seconds, asked, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const dripping: FaultRule["do"] = { dripMs: 10_000 };
const chunks = "/api/document/chunk-info";
const list = "/api/onyx-api/connector-docs";

it("ends a verification whose chunks arrive byte by byte", async () => {
  const ran = await runSlow("verify", { pages: 3, path: chunks, how: dripping });
  expect(ran.code).toBe(10);
  expect(ran.stdout.match(/^unknown +docs\/\d\.md: .*not complete in time$/gm)).toHaveLength(3);
  expect(ran.stderr).toContain("checking 0/3 (50 s)");
  expect(ran.seconds).toBeLessThan(70);
});

it("does not wait for each of many slow chunks", async () => {
  const ran = await runSlow("verify", { pages: 100, path: chunks, how: dripping });
  expect(ran.code).toBe(7);
  // Two times eight at once, then one probe after each pause.
  expect(ran.asked).toBeLessThan(25);
  expect(ran.seconds).toBeLessThan(400);
  expect(ran.stdout.match(/^unknown +docs\/\d+\.md: .*not complete in time$/gm)).not.toBeNull();
  expect(ran.stderr).toMatch(/^\d+ unknown, \d+ not checked$/m);
  expect(ran.stderr).toContain("not complete in time; stopped: the service did not recover");
});

it.each([
  ["arrives byte by byte", dripping],
  ["does not begin", { delayMs: 3_600_000 }],
])("ends a comparison whose list %s", async (_name, how) => {
  const ran = await runSlow("status --remote", { pages: 2, path: list, how });
  expect(ran.code).toBe(7);
  expect(ran.stderr).toContain("waiting for the list of pair 2, 0 documents (10 s)");
  expect(ran.stderr).toMatch(
    /^error: list documents: GET \S+: (?:not complete|no response) in time/m,
  );
  expect(ran.seconds).toBeLessThan(320);
});
