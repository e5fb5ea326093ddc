import { memberText, type Shape } from "./world.ts";

/** A document that the state has as sent. */
export interface Sent {
  id: string;
  /** Of the file, relative to the project. */
  path: string;
  /** The options it was sent with, and those under which it was found unchanged since. */
  shapes: Shape[];
  /** It was taken with --no-ignore, or though an ignore file names it. */
  unignored: boolean;
  removed: boolean;
  /** `state import` brought the record. Undefined where that is not known. */
  imported: boolean | undefined;
  /** The service may have had it under the same pair when it was first recorded. */
  adopted: boolean;
}

export interface Failed {
  /** Relative to the project. */
  path: string;
  id: string;
  shape: Shape;
}

/** What a state must hold: by pair. */
export interface StateModel {
  /** Absolute. */
  folder: string;
  sent: Map<number, Map<string, Sent>>;
  failed: Map<number, Failed[]>;
  /** By pair, the selections of uploads that may not have sent everything. */
  unfinished: Map<number, Set<string>>;
}

export function createStateModel(folder: string): StateModel {
  return { folder, sent: new Map(), failed: new Map(), unfinished: new Map() };
}

/** The selections of uploads to a pair that may not have sent everything. */
export function unfinishedOf({ unfinished }: StateModel, pair: number): Set<string> {
  const known = unfinished.get(pair) ?? new Set<string>();
  unfinished.set(pair, known);
  return known;
}

export function sentTo({ sent }: StateModel, pair: number): Map<string, Sent> {
  const known = sent.get(pair) ?? new Map<string, Sent>();
  sent.set(pair, known);
  return known;
}

/** The pairs to which anything is recorded as sent. */
export function pairsOf({ sent }: StateModel): number[] {
  return [...sent].filter(([, documents]) => documents.size > 0).map(([pair]) => pair);
}

/** The pairs of which anything is recorded, a failure included. */
export function recordedPairs(state: StateModel): number[] {
  const failed = [...state.failed].filter(([, all]) => all.length > 0).map(([pair]) => pair);
  return [...new Set([...pairsOf(state), ...failed])];
}

export function addShape(sent: Sent, shape: Shape): void {
  if (sent.shapes.some((each) => memberText(each) === memberText(shape))) return;
  sent.shapes.push(shape);
}

/** Whether a command ended with `code` because of an upload that may not have sent everything. */
export function saysStopped(
  state: StateModel | undefined,
  pair: number | undefined,
  ran: { code: number | null; stderr: string },
  code: number,
): boolean {
  if (!state) return false;
  // Without a pair the command takes the only recorded one.
  const unfinished =
    pair === undefined ? [...state.unfinished.values()] : [unfinishedOf(state, pair)];
  if (unfinished.every(({ size }) => size === 0)) return false;
  return ran.code === code && ran.stderr.includes("stopped before it sent all documents");
}
