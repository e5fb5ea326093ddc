import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { listState } from "./check.ts";
import type { Project } from "./project.ts";
import { planOf, uploadWords, type Plan } from "./plan.ts";
import { command, note, Violation, type Ran, type Run } from "./run.ts";
import { createStateModel, pairsOf, sentTo, type StateModel } from "./state.ts";
import type { Step, Upload } from "./steps.ts";
import { lookBefore } from "./ownership.ts";
import { checkUpload, refusesIds, runIngest } from "./upload.ts";

function statesIn(run: Run, project: Project): StateModel[] {
  return [...run.states.values()].filter(
    ({ folder }) => folder.startsWith(join(project.folder, "/")) && existsSync(folder),
  );
}

function removeState(run: Run, { folder }: StateModel): void {
  rmSync(folder, { recursive: true, force: true });
  note(run, `rm -r ${folder.slice(run.home.length + 1)}`);
}

/** The state is lost: what was sent is unknown from here on. */
export function loseState(run: Run, project: Project): void {
  for (const state of statesIn(run, project)) {
    removeState(run, state);
    // The shared record has everything.
    if (!run.record) run.states.set(state.folder, createStateModel(state.folder));
  }
}

/** The other machine goes on, with the same checkout and a state of its own. */
export function switchMachine(run: Run, { folder }: Project): void {
  const [own, spare] = [join(folder, ".knowctl"), join(run.home, "other-machine")];
  const aside = join(run.home, "aside");
  for (const [from, to] of [
    [own, aside],
    [spare, own],
    [aside, spare],
  ] as const) {
    if (existsSync(from)) renameSync(from, to);
  }
  note(run, "# the other machine: work/.knowctl and other-machine change places");
}

/** The state is exported, lost, and imported: nothing may have changed. */
export async function transferState(run: Run, project: Project): Promise<void> {
  for (const state of statesIn(run, project)) {
    const before = await listState(run, state);
    const file = join(run.home, "state.ndjson");
    const place = ["--state", state.folder];
    const out = await command(run, project, "", ["state", "export", file, ...place]);
    if (out.code === 9) continue;
    removeState(run, state);
    const back = await command(run, project, "", ["state", "import", file, "--yes", ...place]);
    if (out.code !== 0 || back.code !== 0) throw new Violation("export or import failed");
    const after = await listState(run, state);
    const changed = JSON.stringify(after) !== JSON.stringify(before);
    if (changed) throw new Violation("the imported state is not the exported one");
    for (const all of state.sent.values()) for (const each of all.values()) each.imported = true;
  }
}

/** `ingest --shard` as often as there are shards; with a state each (merged at the end) or one. */
export async function runShards(
  run: Run,
  project: Project,
  upload: Upload,
  { count, apart }: Pick<Extract<Step, { do: "shards" }>, "count" | "apart">,
): Promise<void> {
  const whole = planOf(run, project, upload);
  if (!whole?.state || whole.yield.collides || whole.root === undefined) return;
  const plan: Plan = { ...whole, yield: { ...whole.yield } };
  if (plan.pair === undefined || plan.yield.fileCount === 0) return;
  // States of their own have no records yet.
  const known = lookBefore(run, apart ? { ...plan, state: undefined } : plan, upload);
  const places: string[] = [];
  for (let index = 1; index <= count; index++) {
    const place = join(run.home, `shard-${index}`);
    if (apart) places.push(place);
    // A state of its own records no target yet.
    const words = uploadWords(
      { ...plan, named: apart ? plan.pair : plan.named },
      {
        ...upload,
        ...(apart ? { elsewhere: false } : {}),
      },
    );
    const args = [...words, "--shard", `${index}/${count}`, ...(apart ? ["--state", place] : [])];
    const ran = await command(run, project, plan.selection.cwd, args);
    // Ids that changed stop each shard before it sends anything.
    if (ran.code === 2 && refusesIds(plan, upload, ran)) return;
    if (ran.code !== 0 && ran.code !== 10) throw new Violation(`exit ${ran.code}: ${ran.stderr}`);
  }
  await mergeShards(run, plan, places);
  // Each shard sent its part: nothing is left, and nothing was sent that no file has.
  const isPartial = plan.yield.broken.length > 0 || known.foreign.length > 0;
  const ran = { code: isPartial ? 10 : 0, stdout: "", stderr: "" };
  await checkUpload(run, plan, ran, { upload, before: known, disturbed: false, sharded: true });
  if (places.length > 0 && plan.state) {
    for (const each of sentTo(plan.state, plan.pair).values()) each.imported = undefined;
  }
  await runIngest(run, project, upload, undefined);
}

/** Starts a worker, and kills it when another one has joined its run; resolves with what the other did. */
async function runWorkers(
  run: Run,
  { project, selection: { cwd } }: Plan,
  words: readonly string[],
  nth: number,
): Promise<Ran> {
  const { sql } = run.record!;
  const isOpen = (work: Promise<unknown>): (() => boolean) => {
    let hasEnded = false;
    void work.finally(() => (hasEnded = true));
    return () => !hasEnded;
  };
  const posts = (): number =>
    run.service.sandbox.ledger.requests.filter(({ method }) => method === "POST").length;
  note(run, `# the next worker is killed when it waits for the answer to document ${nth}`);
  run.service.faults.push({ when: { method: "POST", after: nth - 1 }, do: "hang" });
  let child: ChildProcess | undefined;
  const onStart = (started: ChildProcess): void => void (child = started);
  const other = ["--state", join(run.home, "other-machine")];
  const first = command(run, project, cwd, [...words, ...other], { onStart });
  const isFirstOpen = isOpen(first);
  while (isFirstOpen() && posts() < nth) await wait(1);
  run.service.faults.length = 0;
  const worker = sql("select coalesce(max(id), 0) from knowctl_workers");
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    wait(Math.min(ms, 20), undefined, { signal });
  const second = command(run, project, cwd, words, { sleep });
  const isSecondOpen = isOpen(second);
  const joined = `select count(*) from knowctl_workers where id > ${worker}`;
  while (isSecondOpen() && sql(joined) === "0") await wait(10);
  child?.kill("SIGKILL");
  if ((await first).code === null) run.count("workers killed");
  // Its lease has run out.
  sql(`update knowctl_workers set is_gone = true where id = ${worker};
    update knowctl_runs set changes = changes + 1
      where id = (select run from knowctl_workers where id = ${worker})`);
  return await second;
}

/**
 * Two workers share an upload with `--claim`; one is killed while it holds documents. Then every
 * document is sent and recorded, and an upload has nothing to send.
 */
export async function runClaimed(
  run: Run,
  project: Project,
  upload: Upload,
  nth: number,
): Promise<void> {
  const plan = planOf(run, project, upload);
  if (!plan?.state || plan.yield.collides || plan.root === undefined) return;
  if (plan.pair === undefined || plan.yield.fileCount === 0) return;
  const before = lookBefore(run, plan, upload);
  const words = [...uploadWords(plan, upload), "--claim", "--run", "model"];
  const ran = await runWorkers(run, plan, words, nth);
  if (ran.code === 2 && refusesIds(plan, upload, ran)) return;
  // What the killed worker pushed last may not be here yet.
  const push = ["state", "push", "--state", plan.state.folder];
  const fetched = await command(run, project, "", push);
  if (fetched.code !== 0)
    throw new Violation(`state push: exit ${fetched.code}: ${fetched.stderr}`);
  await checkUpload(run, plan, ran, { upload, before, disturbed: false, sharded: true });
  // The killed one is gone with its disk, or its machine goes on: it has an upload to complete.
  const isLost = nth % 2 === 0;
  if (isLost) rmSync(join(run.home, "other-machine"), { recursive: true, force: true });
  else switchMachine(run, project);
  const later = await runIngest(run, project, upload, undefined);
  if (ran.code === 0 && later && later.sent > 0) {
    throw new Violation(`${later.sent} documents were sent again after a run of two workers`);
  }
}

async function mergeShards(run: Run, { project, state }: Plan, places: string[]): Promise<void> {
  const files: string[] = [];
  for (const place of places) {
    const file = `${place}.ndjson`;
    const ran = await command(run, project, "", ["state", "export", file, "--state", place]);
    if (ran.code === 0) files.push(file);
    rmSync(place, { recursive: true, force: true });
  }
  if (files.length === 0 || !state) return;
  const merge = ["state", "import", ...files, "--yes", "--state", state.folder];
  const ran = await command(run, project, "", merge);
  if (ran.code !== 0) throw new Violation(`state import: exit ${ran.code}: ${ran.stderr}`);
}

/**
 * Somebody's records are imported: ids of the other project's documents, with paths that do not
 * exist here. Nothing may be removed because of them.
 */
export async function importForeign(run: Run, project: Project): Promise<void> {
  const file = join(run.home, "foreign.ndjson");
  for (const state of statesIn(run, project)) {
    const place = ["--state", state.folder];
    const out = await command(run, project, "", ["state", "export", file, ...place]);
    if (out.code !== 0) continue;
    const [header, ...lines] = readFileSync(file, "utf8").trim().split("\n");
    const template = lines.find((line) => line.includes('"type":"accepted"'));
    const [pair] = pairsOf(state);
    if (template === undefined || pair === undefined) continue;
    const ids = foreignIds(run, project, state);
    const own = lines.filter((line) => line.includes('"type":"options"'));
    const records = ids.map((id, index) =>
      JSON.stringify({ ...(JSON.parse(template) as object), id, path: `docs/ghost-${index}.md` }),
    );
    const all = [...own, ...records];
    const end = JSON.stringify({ type: "end", records: all.length });
    writeFileSync(file, `${[header, ...all, end].join("\n")}\n`);
    note(run, `# imported: ${records.join(" ")}`);
    const ran = await command(run, project, "", ["state", "import", file, "--yes", ...place]);
    if (ran.code !== 0) throw new Violation(`state import: exit ${ran.code}: ${ran.stderr}`);
    const target = (await listState(run, state)).filter(({ id }) => ids.includes(id ?? ""));
    for (const { id, ccPairId, path } of target) {
      const sent = { id: id ?? "", path, shapes: [{}], unignored: false, removed: false };
      sentTo(state, ccPairId).set(sent.id, { ...sent, imported: true, adopted: false });
    }
  }
}

/** Ids of the documents of other projects that no record here has. */
function foreignIds(run: Run, { name }: Project, state: StateModel): string[] {
  const known = new Set([...state.sent.values()].flatMap((all) => [...all.keys()]));
  return [...run.owners]
    .filter(([id, owners]) => !owners.has(name) && !known.has(id))
    .map(([id]) => id);
}
