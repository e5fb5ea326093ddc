import { rewriteLinks } from "../../links/rewrite-links.ts";
import { targetsFor } from "../../links/targets.ts";
import type { Parts } from "../../read/parts/parts.ts";
import { createBodyLine } from "../body-line.ts";
import type { Mapping } from "../map-fields.ts";

/** A body with the links of documents, and where its offsets are. */
export interface LinkedBody {
  body: string;
  /** The offset in `body` of an offset in the original. */
  shift(offset: number): number;
}

// Not truncated: redaction could not recognise a truncated key.
const shownTarget = (target: string): string =>
  target.length > 120 ? `an address of ${target.length} characters` : target;

/**
 * Rewrites the relative links of a Markdown body, if links are to be rewritten. A dead link becomes
 * a notice.
 */
export function mapLinks(mapping: Mapping, body: string, parts: Parts | undefined): LinkedBody {
  const { path, parsed, settings, effective, notices } = mapping;
  const isWanted = settings.links ?? (effective.link || effective.linkStyle ? "rewrite" : "keep");
  const asWritten = { body, shift: (offset: number) => offset };
  if (!parts || !parsed.isMarkdown || parsed.pages || isWanted === "keep") return asWritten;
  const style = effective.linkStyle?.value;
  const file = { path, style, targets: targetsFor(settings), note: parts.add };
  const { text, shift, dead, firstDead } = rewriteLinks(body, file);
  if (firstDead) {
    const example = `${createBodyLine(mapping, body)(firstDead.offset)}: ${shownTarget(firstDead.target)}`;
    notices.push({ kind: "deadLink", name: "", times: dead, example });
  }
  return { body: text, shift };
}
