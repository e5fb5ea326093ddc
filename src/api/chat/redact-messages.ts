import { parseObject, isObject } from "./common-lines.ts";
import { redactText, type Redactor } from "../answers/redaction.ts";

/** Fewer characters of a secret may pass: otherwise the stream would stall at every similar word. */
const minHeldChars = 4;

/** State of consecutive texts that form one text: a secret may be split over them. */
interface JoinedText {
  /** Last characters passed on, if they may be the beginning of a secret. */
  shown: string;
  /** Held back, because it may be the beginning of a secret. */
  held: string;
  /** The beginning of a secret that was replaced by `***` when other packets arrived. */
  hidden: string;
}

const newJoinedText = (): JoinedText => ({ shown: "", held: "", hidden: "" });

/** `text` without the prefix that it shares with `before`. */
function withoutPrefix(text: string, before: string): string {
  let at = 0;
  while (at < before.length && text[at] === before[at]) at++;
  return text.slice(at);
}

/** `text` without the rest of a secret whose beginning is hidden. */
function withoutHidden(joined: JoinedText, text: string, { redact, openTail }: Redactor): string {
  const all = joined.hidden + text;
  if (openTail(all) === all.length) {
    joined.hidden = all;
    return "";
  }
  const { hidden } = joined;
  joined.hidden = "";
  const known = redact(all);
  return known.startsWith(hidden) ? text : known.replace("***", "");
}

/** Appends `text` and returns the part of the joined text that may now be shown. */
function push(joined: JoinedText, text: string, redactor: Redactor): string {
  const { redact, openTail } = redactor;
  const { shown, held } = joined;
  const next = joined.hidden === "" ? text : withoutHidden(joined, text, redactor);
  if (joined.hidden !== "") return "";
  const all = shown + held + next;
  const open = openTail(all);
  const end = all.length - open;
  if (open < minHeldChars) {
    joined.shown = all.slice(end);
    joined.held = "";
    return withoutPrefix(redact(all), shown);
  }
  joined.held = all.slice(Math.max(end, shown.length));
  joined.shown = all.slice(end, Math.max(end, shown.length));
  return end < shown.length ? "" : withoutPrefix(redact(all.slice(0, end)), shown);
}

/** Returns the held text, and remembers it: the next text may continue a secret in it. */
function release(joined: JoinedText, { redact, redactLast, openTail }: Redactor): string {
  const { shown, held } = joined;
  const all = shown + held;
  if (held === "") return "";
  const ready = redactLast(all);
  const isHidden = ready !== redact(all);
  const tail = all.slice(all.length - openTail(all));
  Object.assign(joined, { shown: isHidden ? "" : tail, held: "", hidden: isHidden ? tail : "" });
  return withoutPrefix(ready, shown);
}

/** Consecutive packets of one type and track, whose texts continue each other. */
interface Run {
  /** The line of the last packet. */
  line: Record<string, unknown>;
  /** By path of the text in the packet. */
  texts: Map<string, JoinedText>;
}

/** A copy of a packet's object with `change` applied to its texts, also inside plain objects. */
function changeTexts(
  value: Record<string, unknown>,
  change: (text: string, place: string) => string,
  place = "",
): Record<string, unknown> {
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const inner = `${place}/${name}`;
    if (inner === "/type") return [name, each];
    if (typeof each === "string") return [name, change(each, inner)];
    return [name, isObject(each) ? changeTexts(each, change, inner) : each];
  });
  return Object.fromEntries(entries);
}

/** A further packet of a run with the held text; undefined if no text is held. */
function heldPacket({ line, texts }: Run, redactor: Redactor): string | undefined {
  const held = new Map([...texts].map(([place, joined]) => [place, release(joined, redactor)]));
  if ([...held.values()].every((text) => text === "")) return undefined;
  const obj = changeTexts(
    line["obj"] as Record<string, unknown>,
    (_, place) => held.get(place) ?? "",
  );
  // Earlier packets already contained the lists.
  for (const [name, each] of Object.entries(obj)) if (Array.isArray(each)) obj[name] = [];
  return JSON.stringify({ ...line, obj });
}

const isPiece = (type: unknown): type is string =>
  typeof type === "string" && type.endsWith("_delta");

// Packets of these types may arrive between the pieces of a text.
const isBetween = (type: unknown): boolean => type === "chat_heartbeat" || type === "citation_info";

/** Key of a parallel text: models, tabs and sub-turns run in parallel, turns do not. */
function trackOf(placement: unknown): string {
  const { model_index, tab_index, sub_turn_index } = isObject(placement) ? placement : {};
  return JSON.stringify([model_index ?? 0, tab_index ?? 0, sub_turn_index ?? null]);
}

/**
 * Creates a function that redacts the messages of one stream. It also redacts a secret that
 * is split over several packets: a text that may end with the beginning of a secret waits for
 * the next packet of its run. `undefined` marks the end of the stream. A message without a
 * secret passes unchanged.
 */
export function createMessageRedactor(
  redactor: Redactor,
): (message: string | undefined) => string[] {
  const runs = new Map<string, Run>();
  const endRuns = (): string[] => {
    const ended = [...runs.values()].map((run) => heldPacket(run, redactor));
    return ended.filter((each) => each !== undefined);
  };
  const redactPiece = (message: string, line: Record<string, unknown>, type: string): string => {
    const key = `${type} ${trackOf(line["placement"])}`;
    const run = runs.get(key) ?? { line, texts: new Map<string, JoinedText>() };
    runs.set(key, run);
    let isChanged = false;
    const obj = changeTexts(line["obj"] as Record<string, unknown>, (text, place) => {
      const joined = run.texts.get(place) ?? newJoinedText();
      run.texts.set(place, joined);
      const ready = push(joined, text, redactor);
      isChanged ||= ready !== text;
      return ready;
    });
    run.line = { ...line, obj };
    const hidden = redactor.redactAll(run.line);
    if (!isChanged && hidden === run.line) return message;
    run.line = hidden;
    return JSON.stringify(hidden);
  };
  return (message) => {
    if (message === undefined) return endRuns();
    const line = parseObject(message);
    const obj = line && isObject(line["obj"]) ? line["obj"] : undefined;
    const type = obj?.["type"];
    if (line && isPiece(type)) return [redactPiece(message, line, type)];
    const hidden = redactText(message, redactor);
    return isBetween(type) ? [hidden] : [...endRuns(), hidden];
  };
}

/** Redacts the batches of messages of a stream; throws what `batches` throws. */
export async function* redactMessages(
  batches: AsyncIterable<string[]>,
  redactor: Redactor,
): AsyncGenerator<string[]> {
  const redact = createMessageRedactor(redactor);
  try {
    for await (const messages of batches) yield messages.flatMap(redact);
  } catch (error) {
    const held = redact(undefined);
    if (held.length > 0) yield held;
    throw error;
  }
  const held = redact(undefined);
  if (held.length > 0) yield held;
}
