import { storedId } from "../../src/sandbox/store/documents.ts";
import type { Plan } from "./plan.ts";
import { type Project, below } from "./project.ts";
import { Violation, type Run } from "./run.ts";
import type { Write } from "./service.ts";
import type { StateModel } from "./state.ts";
import type { Upload } from "./steps.ts";
import { documentsOf, type Expected } from "./world.ts";

function isRecorded(state: StateModel | undefined, id: string): boolean {
  if (!state) return false;
  return [...state.sent.values()].some((all) =>
    [...all.keys()].some((each) => storedId(each) === storedId(id)),
  );
}

/**
 * The documents of an upload that stand under another pair and are recorded nowhere here: they are
 * not sent. Only a service of the onyx dialect can list what it has.
 */
function foreignDocuments(
  run: Run,
  { state, pair, yield: { documents } }: Pick<Plan, "state" | "pair" | "yield">,
  { overwrite }: Pick<Upload, "overwrite">,
): Expected[] {
  if (run.dialect !== "onyx" || overwrite || pair === undefined) return [];
  return documents.filter(({ id }) => {
    const stored = run.service.find(id);
    return stored !== undefined && !stored.pairs.includes(pair) && !isRecorded(state, id);
  });
}

/** The documents of an upload that the service has without a record here. */
function adoptedIds(run: Run, { state, yield: { documents } }: Plan): ReadonlySet<string> {
  const isAdopted = ({ id }: Expected): boolean =>
    run.service.find(id) !== undefined && !isRecorded(state, id);
  return new Set(documents.filter(isAdopted).map(({ id }) => id));
}

/** What the service has of an upload's documents before it runs. */
export interface Before {
  /** Not to be sent: they stand under another pair. */
  foreign: readonly Expected[];
  /** Had by the service without a record here. */
  adopted: ReadonlySet<string>;
}

export const lookBefore = (run: Run, plan: Plan, upload: Pick<Upload, "overwrite">): Before => ({
  foreign: foreignDocuments(run, plan, upload),
  adopted: adoptedIds(run, plan),
});

/** Whether pairs other than `pair` hold a document. */
export function isShared(run: Run, id: string, pair: number): boolean {
  return run.service.find(id)?.pairs.some((each) => each !== pair) === true;
}

/** Of the recorded documents, how many the files of the upload would send under another id. */
export function changedIds(plan: Plan): { count: number; recorded: number; hasRows: boolean } {
  const { state, pair, root, project, files } = plan;
  const sent = state && pair ? [...(state.sent.get(pair)?.values() ?? [])] : [];
  const left = sent.filter(({ removed }) => !removed);
  const changed = new Set<string>();
  let rows = 0;
  for (const { id, path } of left) {
    const file = project.files.get(path);
    if (!file || !files.includes(path)) continue;
    const yielded = documentsOf(path, below(path, root ?? ""), file, plan.shapeOf(path));
    if (yielded.some((each) => each.id === id)) continue;
    if (yielded.every((each) => left.some((known) => known.id === each.id))) continue;
    // A file that is recorded under several ids is sent once.
    if (file.rows === undefined) changed.add(path);
    else rows++;
  }
  return { count: changed.size + rows, recorded: left.length, hasRows: rows > 0 };
}

/** What a command may do to documents of another project. */
interface Permission {
  /** `--overwrite`, or `--class shared` and `--class foreign` of a removal. */
  isAllowed: boolean;
}

/**
 * No document of another project is changed or removed: what one project sent to its pair is its
 * own until it is gone, unless a flag allows more. Where the service cannot list, nobody can know.
 */
export function checkOwners(
  run: Run,
  { name }: Project,
  writes: readonly Write[],
  { isAllowed }: Permission,
): void {
  for (const { kind, id, pair } of writes) {
    const owners = run.owners.get(id) ?? new Map<string, Set<number | undefined>>();
    const isForeign = owners.size > 0 && !owners.has(name);
    // Under the same pair it counts as a lost state.
    const isAdopted = kind === "stored" && [...owners.values()].some((pairs) => pairs.has(pair));
    if (isForeign && run.dialect === "onyx" && !isAllowed && !isAdopted) {
      throw new Violation(
        `${name} ${kind} ${id}, which is a document of ${[...owners.keys()].join()}`,
      );
    }
    if (kind === "deleted") run.owners.delete(id);
    else {
      // With --overwrite it belongs to both.
      owners.set(name, (owners.get(name) ?? new Set()).add(pair));
      run.owners.set(id, owners);
    }
  }
}
