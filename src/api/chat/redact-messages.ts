import { parseObject, isObject } from "./common-lines.ts";
import { redactText, type Redactor } from "../answers/redaction.ts";

/** Fewer characters of a secret may pass: a stream would wait at every word that begins like one. */
const fewest = 4;

/** Texts that belong together, one after the other: a secret may be split over them. */
interface Joint {
  /** Passed on already, and perhaps the beginning of a secret: a few characters. */
  shown: string;
  /** Not passed on: perhaps the beginning of a secret. */
  held: string;
  /** The beginning of a secret that `***` took the place of when other packets came. */
  hidden: string;
}

const newJoint = (): Joint => ({ shown: "", held: "", hidden: "" });

/** `text` without what it has in common with `before` at its beginning. */
function behind(text: string, before: string): string {
  let at = 0;
  while (at < before.length && text[at] === before[at]) at++;
  return text.slice(at);
}

/** What is left of `text` without the rest of a secret whose beginning is hidden. */
function behindHidden(joint: Joint, text: string, { redact, openTail }: Redactor): string {
  const all = joint.hidden + text;
  if (openTail(all) === all.length) {
    joint.hidden = all;
    return "";
  }
  const { hidden } = joint;
  joint.hidden = "";
  const known = redact(all);
  return known.startsWith(hidden) ? text : known.replace("***", "");
}

/** The part of a joined text that may be shown once `text` has come. */
function push(joint: Joint, text: string, redactor: Redactor): string {
  const { redact, openTail } = redactor;
  const { shown, held } = joint;
  const next = joint.hidden === "" ? text : behindHidden(joint, text, redactor);
  if (joint.hidden !== "") return "";
  const all = shown + held + next;
  const open = openTail(all);
  const end = all.length - open;
  if (open < fewest) {
    joint.shown = all.slice(end);
    joint.held = "";
    return behind(redact(all), shown);
  }
  joint.held = all.slice(Math.max(end, shown.length));
  joint.shown = all.slice(end, Math.max(end, shown.length));
  return end < shown.length ? "" : behind(redact(all.slice(0, end)), shown);
}

/** What was held back. The joint remembers it: the next text may go on with it. */
function release(joint: Joint, { redact, redactLast, openTail }: Redactor): string {
  const { shown, held } = joint;
  const all = shown + held;
  if (held === "") return "";
  const ready = redactLast(all);
  const isHidden = ready !== redact(all);
  const tail = all.slice(all.length - openTail(all));
  Object.assign(joint, { shown: isHidden ? "" : tail, held: "", hidden: isHidden ? tail : "" });
  return behind(ready, shown);
}

/** Packets of one kind and place, whose texts go on from one to the next. */
interface Run {
  /** The last packet's line, and its texts by their place in the packet. */
  line: Record<string, unknown>;
  joints: Map<string, Joint>;
}

/** A copy of a packet's object with its own texts, also inside of plain objects, passed through `change`. */
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

/** A further packet of a run with the text that was held back; undefined where none was. */
function heldPacket({ line, joints }: Run, redactor: Redactor): string | undefined {
  const texts = new Map([...joints].map(([place, joint]) => [place, release(joint, redactor)]));
  if ([...texts.values()].every((text) => text === "")) return undefined;
  const obj = changeTexts(
    line["obj"] as Record<string, unknown>,
    (_, place) => texts.get(place) ?? "",
  );
  // Lists were in the packets before.
  for (const [name, each] of Object.entries(obj)) if (Array.isArray(each)) obj[name] = [];
  return JSON.stringify({ ...line, obj });
}

const isPiece = (type: unknown): type is string =>
  typeof type === "string" && type.endsWith("_delta");

// These come between the pieces of a text.
const isBetween = (type: unknown): boolean => type === "chat_heartbeat" || type === "citation_info";

/** Names what goes on at the same time as other texts: turns follow one another, and models, tabs and sub-turns do not. */
function trackOf(placement: unknown): string {
  const { model_index, tab_index, sub_turn_index } = isObject(placement) ? placement : {};
  return JSON.stringify([model_index ?? 0, tab_index ?? 0, sub_turn_index ?? null]);
}

/**
 * Makes a function that replaces every secret in the messages of one stream, also
 * one that is split over the texts of several packets: a text that ends like the
 * beginning of a secret waits for the next of its kind. `undefined` is the end of
 * the stream. What holds no secret passes as it came.
 */
export function createMessageRedactor(
  redactor: Redactor,
): (message: string | undefined) => string[] {
  const runs = new Map<string, Run>();
  const endRuns = (): string[] => {
    const ended = [...runs.values()].map((run) => heldPacket(run, redactor));
    return ended.filter((each) => each !== undefined);
  };
  const takePiece = (message: string, line: Record<string, unknown>, type: string): string => {
    const key = `${type} ${trackOf(line["placement"])}`;
    const run = runs.get(key) ?? { line, joints: new Map<string, Joint>() };
    runs.set(key, run);
    let isChanged = false;
    const obj = changeTexts(line["obj"] as Record<string, unknown>, (text, place) => {
      const joint = run.joints.get(place) ?? newJoint();
      run.joints.set(place, joint);
      const ready = push(joint, text, redactor);
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
    if (line && isPiece(type)) return [takePiece(message, line, type)];
    const hidden = redactText(message, redactor);
    return isBetween(type) ? [hidden] : [...endRuns(), hidden];
  };
}

/** The batches of messages of a stream with every secret replaced; throws what they throw. */
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
