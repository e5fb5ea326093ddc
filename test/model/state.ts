import { memberText, type Shape } from "./world.ts";

/** A document that the state has as sent. */
export interface Sent {
  id: string;
  /** Of the file, relative to the project. */
  path: string;
  /** The options it was sent with, and those under which it was found unchanged since. */
  shapes: Shape[];
  /** It was taken though an ignore file names it. */
  unignored: boolean;
  removed: boolean;
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
}

export function createStateModel(folder: string): StateModel {
  return { folder, sent: new Map(), failed: new Map() };
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
