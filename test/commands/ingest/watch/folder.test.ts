import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";
import { givenSeed, isProof, turns } from "../../../property.ts";
import { startTestService } from "../../../service.ts";
import { folderPaths, folderTexts, openStored, runWatch } from "./support.ts";

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// A statement of libsql keeps its file open until it is collected: only what is reachable counts here.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Files that this process has open; not the connections, of which the service has its ends here too. */
function openFiles(): number {
  if (process.platform !== "linux") return 0;
  const kinds = readdirSync("/proc/self/fd").map((each) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`);
    } catch {
      return "";
    }
  });
  return kinds.filter((each) => !each.startsWith("socket:")).length;
}

type Outage = FaultRule["do"] | "full disk" | "folder away";

const outages: readonly Outage[] = [
  "reset-before-store",
  "html",
  { status: 503 },
  { status: 500 },
  { status: 401 },
  { status: 403 },
  "full disk",
  "folder away",
];
/** Rounds from one outage to the next: in 72 rounds each kind comes once. */
const outageEvery = 8;

/** Begins an outage; returns what ends it. `report` is the report of each round. */
function begin(outage: Outage, folder: string, report: string, rules: FaultRule[]): () => void {
  if (outage === "full disk") {
    rmSync(report, { force: true });
    symlinkSync("/dev/full", report);
    return () => rmSync(report);
  }
  if (outage === "folder away") {
    const [docs, away] = [join(folder, "docs"), join(folder, "away")];
    renameSync(docs, away);
    return () => renameSync(away, docs);
  }
  const path = "/api/onyx-api/ingestion";
  rules.push({ when: { method: "POST", path }, do: outage });
  return () => void (rules.length = 0);
}

/** What was printed from the begin of an outage to its end: one warning, and what was sent meanwhile. */
function expectSaidOnce(text: string, outage: Outage): void {
  const lines = text.trimEnd().split("\n");
  const message = `${JSON.stringify(outage)}:\n${text}`;
  const count = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  expect(count(/^warning: /), message).toBe(1);
  expect(count(/^ {2}trying again in 5s/), message).toBe(1);
  expect(count(/^[\d:]{8} well again after /), message).toBe(1);
  expect(count(/^[\d:]{8} .*(?:created|updated)/), message).toBeLessThanOrEqual(3);
  const known = /^(?:warning: | {2}|[\d:]{8} (?:well again|.*created|.*updated))/;
  expect(
    lines.filter((line) => !known.test(line)),
    message,
  ).toEqual([]);
}

const measureEvery = 20;
/** In 40 rounds; in a proof's hundreds. */
const mostGrowth = (isProof ? 24 : 5) * 2 ** 20;
const mostMoreFiles = 1;

/** What happens to the folder between two rounds. */
function createEdits(folder: string, random: () => number) {
  const docs = join(folder, "docs");
  let counter = 0;
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const paths = (): string[] => folderPaths(folder);
  const write = (path: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `# Page ${counter}\n\nText number ${counter++}.\n`);
  };
  const fresh = (): string => `docs/${pick(["", "a/", "b/c/"])}p${Math.floor(random() * 30)}.md`;
  return {
    write: () => write(fresh()),
    edit: () => write(pick(paths()) ?? fresh()),
    /** As an editor that writes beside and renames. */
    replace() {
      const path = join(folder, pick(paths()) ?? fresh());
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(`${path}~`, `# Replaced\n\nText number ${counter++}.\n`);
      renameSync(`${path}~`, path);
    },
    rename() {
      const from = pick(paths());
      const to = fresh();
      if (from === undefined || from === to) return write(to);
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      renameSync(join(folder, from), join(folder, to));
    },
    remove() {
      const path = pick(paths());
      if (path !== undefined && paths().length > 5) rmSync(join(folder, path));
    },
    /** As a checkout: many files at once change, come and move. */
    checkout() {
      for (let count = 0; count < 12; count++) write(fresh());
      const moved = join(docs, "a");
      const to = join(docs, `moved-${counter % 3}`);
      rmSync(to, { recursive: true, force: true });
      if (paths().some((path) => path.startsWith("docs/a/"))) renameSync(moved, to);
    },
  };
}

/**
 * Rounds over one folder: random edits, bursts, renames, checkouts, events that the watcher misses,
 * and an outage every eighth round. After each change the watch must come to rest with every file
 * in the service as it is in the folder, and nothing else there that a clean removal would remove.
 * Resolves to the number of outages, each of which was said once.
 */
async function follow(steps: Iterator<number>, seed: number, prune: boolean): Promise<number> {
  const rules: FaultRule[] = [];
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`docs/p${index}.md`, `# Page ${index}\n\nFirst.\n`]),
  );
  const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
  const stored = await openStored(service.folder);
  const random = createRandom(seed);
  const edits = createEdits(service.folder, random);
  const names = prune
    ? (["write", "edit", "replace", "remove"] as const)
    : (["write", "edit", "replace", "rename", "remove", "checkout"] as const);
  const report = join(service.folder, "report.json");
  let said = "";
  let begun = 0;
  let ended = 0;
  let failing = 0;
  let endOutage = (): void => {};
  let hasMissed = false;
  let isAfterOutage = false;
  let step = 0;
  const uses: { files: number; heap: number }[] = [];
  const { error, stderr } = await runWatch(
    service,
    { watch: true, idPrefix: "", report: [report], ...(prune ? { prune: true } : {}) },
    async (rest) => {
      said += rest.text;
      expect(rest).toMatchObject({ open: 1, listeners: 1 });
      expect(rest.rounds, rest.text).toBeLessThan(12 * step + 100);
      if (failing > 0) {
        // The service stays away for a few retries; the folder goes on.
        if (--failing === 0) endOutage();
        else if (rules.length > 0 && random() < 0.5) edits.edit();
        return undefined;
      }
      if (ended < begun) {
        if (!said.includes("well again")) return undefined;
        expectSaidOnce(said, outages[ended++ % outages.length]!);
      } else expect(said).not.toMatch(/^(?:warning|failed)|trying again|well again/m);
      said = "";
      if (hasMissed) {
        // Only the full check can find it.
        hasMissed = rest.ms < 3_000_000;
        return undefined;
      }
      const texts = folderTexts(service.folder);
      const found = stored();
      for (const [path, text] of texts)
        expect(found.get(path), path).toContain(text.trim().split("\n").at(-1));
      // After an outage nothing is removed before another round has found the same.
      const isEqual = prune && !isAfterOutage;
      if (isEqual) expect([...found.keys()].toSorted()).toEqual([...texts.keys()].toSorted());
      if (step % measureEvery === 0) {
        // The service of the test records each request.
        service.sandbox.ledger.requests.length = 0;
        service.sandbox.ledger.documents.clear();
        // A later turn closes what an earlier one has found; on a busy machine, more than one does.
        const most = (uses[1]?.files ?? 0) + mostMoreFiles;
        let open = Infinity;
        for (let turn = 0, before = 0; turn < 50; turn++) {
          collectGarbage();
          await new Promise((resolve) => setImmediate(resolve));
          [before, open] = [open, openFiles()];
          if (open <= most || (uses.length < 2 && open === before)) break;
        }
        uses.push({ files: open, heap: process.memoryUsage().heapUsed });
      }
      if (steps.next().done) return "end";
      step++;
      // Enough for the guard of a removal: one document a round.
      const count = isAfterOutage ? 0 : prune ? 1 : 1 + Math.floor(random() * 4);
      for (let index = 0; index < count; index++)
        edits[names[Math.floor(random() * names.length)]!]();
      if (isAfterOutage) edits.edit();
      isAfterOutage = step > 1 && step % outageEvery === 1;
      if (isAfterOutage) {
        edits.edit();
        endOutage = begin(outages[begun++ % outages.length]!, service.folder, report, rules);
        failing = 1 + Math.floor(random() * 4);
        rest.change(10);
      } else if (random() < 0.1) hasMissed = true;
      else for (let index = 0; index <= count; index++) rest.change(Math.floor(random() * 900));
      return undefined;
    },
  );
  expect(error, stderr).toMatchObject({ exit: "terminated" });
  // The first rounds load code and open what stays open. A short proof has no more than these.
  const [early = uses[0]!, late = early] = [uses[1], uses.at(-1)];
  expect(late.files).toBeLessThanOrEqual(early.files + mostMoreFiles);
  expect(late.heap).toBeLessThan(early.heap + mostGrowth);
  return ended;
}

it("keeps a service equal to a folder through edits, checkouts and outages", async () => {
  const count = await follow(turns(72), givenSeed, false);
  if (!isProof) expect(count).toBe(outages.length);
});

it("removes what was removed, never in the first round", async () => {
  await follow(turns(30), givenSeed, true);
});
