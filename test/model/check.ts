import { main } from "../../src/main.ts";
import { storedId } from "../../src/sandbox/store/documents.ts";
import { createTestContext } from "../support.ts";
import type { Plan } from "./plan.ts";
import { Violation, type Ran, type Run } from "./run.ts";
import { difference, type Write } from "./service.ts";
import { addShape, sentTo, type Failed, type StateModel } from "./state.ts";
import type { Expected } from "./world.ts";

/** Each document that was sent is one that a file yields under the options of the command. */
export function checkSent(
  writes: readonly Write[],
  documents: readonly Expected[],
  pair: number | undefined,
): void {
  for (const write of writes) {
    if (write.kind === "deleted") throw new Violation(`an upload deleted ${write.id}`);
    const id = write.document?.id ?? "";
    const expected = documents.find((each) => each.id === id);
    if (!expected) {
      const ids = documents.map((each) => each.id).join(", ");
      throw new Violation(`sent under the id ${id}; the files have: ${ids}`);
    }
    if (write.pair !== pair) throw new Violation(`${id}: sent to pair ${write.pair}, not ${pair}`);
    const { document } = write;
    if (!document) continue;
    const title = document.title ?? document.semantic_identifier;
    const wrong = difference({ ...document, title } as never, expected);
    if (wrong !== undefined) throw new Violation(`${id}: what was sent: ${wrong}`);
  }
}

/** After exit 0: the service holds each document as its file has it. */
export function checkStored(
  run: Run,
  { documents, pair, state }: { documents: readonly Expected[]; pair: number; state: string },
  mayBeForeign: (id: string) => boolean,
): void {
  for (const expected of documents) {
    const { id, path } = expected;
    const writer = run.writers.get(storedId(id));
    // Another state wrote it since, and this one says what it has sent itself.
    if (writer?.state !== state && mayBeForeign(id)) continue;
    const stored = run.service.find(id);
    if (!stored) throw new Violation(`exit 0, but ${id} of ${path} is not in the service`);
    const wrong = difference(stored, expected);
    if (wrong !== undefined) throw new Violation(`exit 0, but in the service ${id}: ${wrong}`);
    if (!stored.pairs.includes(pair)) {
      throw new Violation(`exit 0, but ${id} is in the pairs ${stored.pairs.join()}, not ${pair}`);
    }
  }
}

interface Listed {
  status: "sent" | "failed" | "removed";
  ccPairId: number;
  path: string;
  id: string | null;
}

/** The records of a state as the program lists them. */
export async function listState(run: Run, { folder }: StateModel): Promise<Listed[]> {
  const context = createTestContext({ cwd: run.home, env: run.env });
  const code = await main(["state", "list", "--state", folder, "-o", "ndjson"], context);
  if (code === 9) return [];
  if (code !== 0) throw new Violation(`state list: exit ${code}: ${context.stderrText()}`);
  const lines = context.stdoutText().split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Listed);
}

/** Which records a command must have left, and which it may have. */
export interface Allowed {
  /** Ids that the service had already, without a record here. */
  adopted: ReadonlySet<string>;
  /** Ids that may have vanished from the records: their upload is in doubt. */
  doubtful: ReadonlySet<string>;
  /** The process was killed: what was acknowledged last may be unrecorded. */
  killed: boolean;
  /** The command was several shards: what failed before is no matter of one of them. */
  sharded: boolean;
}

function checkRecorded(
  listed: ReadonlySet<string>,
  known: ReadonlySet<string>,
  answered: ReadonlySet<string>,
  { doubtful, killed }: Allowed,
): void {
  for (const id of listed) {
    if (known.has(id) || answered.has(id)) continue;
    throw new Violation(`recorded as sent without an answer 200: ${id}`);
  }
  const must = killed ? known : new Set([...known, ...answered]);
  for (const id of must) {
    if (listed.has(id) || doubtful.has(id)) continue;
    throw new Violation(`sent and answered 200, but not recorded: ${id}`);
  }
}

/** What failed stays recorded until its file was looked at again, and no longer. */
function checkFailures(
  { files, project }: Plan,
  before: readonly Failed[],
  after: readonly Failed[],
  isSettled: boolean,
): void {
  const left = after.find(({ path }) => files.includes(path));
  if (isSettled && left) throw new Violation(`exit 0, but a failure of ${left.path} is recorded`);
  const vanished = before.find(
    ({ path }) =>
      project.files.has(path) &&
      !project.ignored.has(path) &&
      !files.includes(path) &&
      !after.some((each) => each.path === path),
  );
  if (vanished) {
    throw new Violation(`the failure of ${vanished.path} is forgotten; it was not looked at`);
  }
}

/** Compares the state with what it must hold after an upload, and takes it over. */
export async function followUpload(
  run: Run,
  plan: Plan & { state: StateModel; pair: number; root: string },
  { ran, writes, allowed }: { ran: Ran; writes: readonly Write[]; allowed: Allowed },
): Promise<void> {
  const { state, pair, shapeOf, root, project } = plan;
  const records = await listState(run, state);
  const sent = sentTo(state, pair);
  const idsOf = (status: string): Set<string> =>
    new Set(
      records
        .filter((each) => each.ccPairId === pair && each.status === status)
        .map(({ id }) => id ?? ""),
    );
  const listed = new Set([...idsOf("sent"), ...idsOf("removed")]);
  const idOf = ({ document }: Write): string => document?.id ?? "";
  const answered = new Set(writes.filter((each) => each.answered).map(idOf));
  checkRecorded(listed, new Set(sent.keys()), answered, allowed);
  for (const { id, path } of plan.yield.documents) {
    if (!listed.has(id)) continue;
    const known = sent.get(id);
    const unignored = project.ignored.has(path) || plan.selection.noIgnore === true;
    if (!known || answered.has(id)) {
      const shapes = [shapeOf(path)];
      const adopted = known?.adopted ?? allowed.adopted.has(id);
      sent.set(id, { id, path, shapes, unignored, removed: false, imported: false, adopted });
    } else if (ran.code === 0 || ran.code === 10) addShape(known, shapeOf(path));
  }
  for (const id of sent.keys()) if (!listed.has(id)) sent.delete(id);
  const before = state.failed.get(pair) ?? [];
  const failures = records.filter((each) => each.ccPairId === pair && each.status === "failed");
  const failed = failures.map(({ path: fromRoot, id }) => {
    const path = root === "" ? fromRoot : `${root}/${fromRoot}`;
    const isOfThisRun = plan.files.includes(path);
    const old = before.find((each) => each.path === path && (!id || each.id === id));
    return { path, id: id ?? "", shape: isOfThisRun || !old ? shapeOf(path) : old.shape };
  });
  state.failed.set(pair, failed);
  checkFailures(plan, before, failed, ran.code === 0 && !allowed.sharded);
}
