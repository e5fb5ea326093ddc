import { hidesElement } from "../../../hidden/hides.ts";
import type { HiddenKind } from "../../reader.ts";
import { strip } from "./mdx-lines.ts";
import type { Scan } from "./mdx-scan.ts";
import { inlineNames, isComponent, type Tag } from "./mdx-tag.ts";

const unseenNames: ReadonlySet<string> = new Set(["script", "style", "template"]);

/** Why nobody sees an element; undefined for one that is seen. A component decides for itself. */
function unseenKind({ page }: Scan, tag: Tag): HiddenKind | undefined {
  const { name, kind, attributes, codes } = tag;
  if (kind === "close" || isComponent(name)) return undefined;
  if (unseenNames.has(name)) return "script";
  if (page.keepsHidden) return undefined;
  const all = new Map([...attributes].map(([key, value]) => [key.toLowerCase(), value]));
  const style = /\bdisplay["']?\s*:\s*(["'`])([a-z-]+)\1/i.exec(codes.get("style") ?? "")?.[2];
  if (style !== undefined) all.set("style", `display: ${style}`);
  if (tag.isHidden || codes.get("hidden")?.trim() === "true") all.set("hidden", "");
  return hidesElement(all, page.isControlled) ? "hidden" : undefined;
}

/** Offset after the end tag of an element; -1 if it never closes. */
function endOfElement({ text, missing }: Scan, name: string, from: number): number {
  if (missing.has(`</${name}`)) return -1;
  const pattern = new RegExp(`<(/?)${name}(?=[\\s/>])(?:[^<>]{0,1000}(/)>)?`, "g");
  pattern.lastIndex = from;
  let depth = 1;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [, slash, single] = found;
    if (slash === "/") depth--;
    else if (single === undefined) depth++;
    const end = depth === 0 ? text.indexOf(">", found.index) : -1;
    if (end !== -1) return end + 1;
  }
  missing.add(`</${name}`);
  return -1;
}

/** Skips an element that nobody sees, with its content; false if it is seen. */
export function skipUnseen(scan: Scan, tag: Tag): boolean {
  const kind = unseenKind(scan, tag);
  if (kind === undefined) return false;
  const { at, lines, page } = scan;
  const { name, end } = tag;
  const to = tag.kind === "single" ? end : endOfElement(scan, name, end);
  if (to === -1) return false;
  if (scan.ignored === 0) page.log.add(kind, `<${name}>`, at);
  strip(lines, !inlineNames.has(name));
  scan.at = to;
  return true;
}
