import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeFiles } from "../service.ts";
import {
  enginesFolder,
  prepareDocuments,
  run,
  sentTwice,
  start,
  until,
  works,
  type Place,
  type Process,
} from "./place.ts";

/** The Python that has Dask: Debian's, where another one stands before it in the PATH. */
const python = ["python3", "/usr/bin/python3"].find((each) =>
  works(each, "-c", "import distributed"),
);

const total = 600;
const inFlight = 8;
const batch = 64;

/** A scheduler and three workers on loopback; resolves with its address when all have joined. */
async function startCluster(place: Place): Promise<{ address: string; workers: Process[] }> {
  const file = join(place.folder, "..", "scheduler.json");
  const dask = (program: string, ...args: string[]): Process =>
    start(
      python!,
      [
        "-m",
        `distributed.cli.dask_${program}`,
        "--scheduler-file",
        file,
        ...args,
        "--no-dashboard",
      ],
      place,
    );
  const scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0");
  await until(() => existsSync(file), scheduler.stderr);
  const own = ["--host", "127.0.0.1", "--nthreads", "1", "--no-nanny"];
  const workers = [1, 2, 3].map((number) =>
    dask("worker", ...own, "--local-directory", join(place.folder, "..", `worker-${number}`)),
  );
  const joined = (): number => scheduler.stderr().match(/Register worker/g)?.length ?? 0;
  await until(
    () => joined() === 3,
    () => scheduler.stderr() + workers.map((each) => each.stderr()).join(""),
  );
  const { address } = JSON.parse(readFileSync(file, "utf8")) as { address: string };
  return { address, workers };
}

describe.runIf(python !== undefined)("Dask", () => {
  const upload = (address: string): string[] => [
    join(enginesFolder, "dask", "upload.py"),
    address,
    "docs",
    "--cc-pair-id",
    "2",
  ];
  // asyncio says, where the machine is busy, that nobody waited for a heartbeat of Dask.
  const ownLines = (stderr: string): string =>
    stderr.replace(
      /Future exception was never retrieved\nfuture: .*\n(?:.*TimeoutError.*\n)*/g,
      "",
    );
  const statusesIn = (stdout: string): string[] =>
    stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { status: string }).status);

  it("uploads each document although a worker is lost, and only new ones the second time", async () => {
    const place = await prepareDocuments(total);
    const { address, workers } = await startCluster(place);
    const first = start(python!, upload(address), place);
    await until(() => place.sandbox.ledger.documents.size > total / 4, first.stderr);
    workers[0]!.kill();
    const { code, stdout, stderr } = await first.ended;
    expect({ code, stderr: ownLines(stderr) }).toEqual({
      code: 0,
      stderr: `${total} documents, 0 failed\n`,
    });
    expect(statusesIn(stdout)).toHaveLength(total);
    expect(place.sandbox.ledger.documents.size).toBe(total);
    expect(sentTwice(place.sandbox)).toBeLessThanOrEqual(inFlight + batch);

    const before = sentTwice(place.sandbox);
    writeFiles(place.folder, { "docs/broken.md": "---\na: [\n---\n", "docs/new.md": "# New\n" });
    const again = await run(python!, upload(address), place);
    expect({ code: again.code, stderr: ownLines(again.stderr) }).toEqual({
      code: 10,
      stderr: `${total + 2} documents, 1 failed\n`,
    });
    const statuses = statusesIn(again.stdout);
    expect(statuses.filter((each) => each !== "unchanged").toSorted()).toEqual([
      "created",
      "failed",
    ]);
    expect(again.stdout).toContain("docs/broken.md:3:1: front matter");
    expect(sentTwice(place.sandbox)).toBe(before);
  });
});
