import type { Size } from "../documents/payload/payload.ts";
import { shownText, type ShownPath } from "./paths.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { countOf, formatCount } from "./terminal/progress.ts";
import { dim, green, red, yellow, type Text } from "./terminal/text.ts";

export interface PlannedDocument {
  action: string;
  /** Why the document is gone, see OrphanClass. */
  class?: string;
  path: string;
  /** Row number in a file of rows. */
  row?: number;
  id: string | undefined;
  detail: string;
}

/** Words of a plan for people, as those of the summary: created, updated. JSON has the action. */
const planWords: Record<string, { row: string; count: string }> = {
  new: { row: "create", count: "to create" },
  changed: { row: "update", count: "to update" },
};

/** Fields of a document as people call them. */
const fieldWords: Readonly<Record<string, string>> = {
  sections: "text or link",
  semantic_identifier: "title",
  primary_owners: "owners",
  secondary_owners: "owners",
  doc_updated_at: "date",
};

/** `metadata, text or link, title` of the names of fields in a plan. */
function fieldsText({ action, detail }: PlannedDocument): string {
  if (action !== "changed") return detail;
  return [...new Set(detail.split(", ").map((name) => fieldWords[name] ?? name))].join(", ");
}

/** `to send: 1,204 characters, about 301 tokens in 5 chunks (estimate: …)`. */
export function sizeText({ characters, tokens, chunks }: Size): string {
  const about = `about ${countOf(tokens, "token")} in ${countOf(chunks, "chunk")}`;
  return `to send: ${countOf(characters, "character")}, ${about} (estimate: 4 characters a token, 512 tokens a chunk)`;
}

/** Without a record, nobody knows whether the service has a document. */
const recordless = { row: "send", count: "to send" };

const wordsOf = (action: string, isRecordless: boolean): typeof recordless | undefined =>
  isRecordless && action === "new" ? recordless : planWords[action];

const planOrder = ["new", "changed", "failed", "unchanged", "skipped", "gone"];

/** The counts of a plan: `6 to create, 2 to update, 40 unchanged`. */
export function plannedCounts(counts: ReadonlyMap<string, number>, isRecordless: boolean): string {
  const parts = planOrder.flatMap((action) => {
    const count = counts.get(action) ?? 0;
    return count === 0
      ? []
      : `${formatCount(count)} ${wordsOf(action, isRecordless)?.count ?? action}`;
  });
  return parts.join(", ") || "no documents";
}

/** The file with its row number, or the line of stdin. */
function placeOf({ path, row }: PlannedDocument, shown: ShownPath): string {
  const place = path === "" ? "stdin" : shown(path);
  if (row === undefined) return place;
  return path === "" ? `${place}:${row}` : `${place}#${row}`;
}

const actionStyles: Record<string, (...parts: Text[]) => Text> = {
  new: green,
  changed: yellow,
  failed: red,
};

/** Writes one line of a dry run's plan: a table row on a terminal, else separated by tabs. */
export async function writePlanned(
  output: Output,
  each: PlannedDocument,
  shown: ShownPath,
  isRecordless = false,
): Promise<void> {
  const path = neutraliseLine(placeOf(each, shown));
  const detail = neutraliseLine(shownText(each.path, fieldsText(each), shown));
  const word = wordsOf(each.action, isRecordless)?.row ?? each.action;
  if (!output.isTerminal) {
    await output.line([word, path, neutraliseLine(each.id ?? ""), detail].join("\t"));
    return;
  }
  const paint = actionStyles[each.action] ?? dim;
  await output.line(paint(word.padEnd(10)), path, detail === "" ? "" : dim(`  (${detail})`));
}
