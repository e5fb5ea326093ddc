import type { VerifiedDocument, VerifyResult } from "../checks/verify/evidence.ts";
import type { ShownPath } from "./paths.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { formatCount } from "./terminal/progress.ts";
import { bold, dim, green, red, yellow, type Text } from "./terminal/text.ts";

/** Every result, in the order of reports. */
export const verifyResults = [
  "current",
  "present",
  "stale",
  "missing",
  "listed-only",
  "hidden",
  "unknown",
] as const satisfies readonly VerifyResult[];

/** Number of documents by result. */
export type VerifyCounts = Record<VerifyResult, number>;

export function emptyCounts(): VerifyCounts {
  return Object.fromEntries(verifyResults.map((name) => [name, 0])) as VerifyCounts;
}

/** The counts for people: `40 current, 2 missing`. */
export function countsText(counts: VerifyCounts): string {
  const parts = verifyResults
    .filter((name) => counts[name] > 0)
    .map((name) => `${formatCount(counts[name])} ${name.replace("-", " ")}`);
  return parts.join(", ") || "nothing checked";
}

const colours: Partial<Record<VerifyResult, (text: string) => Text>> = {
  current: green,
  present: green,
  unknown: yellow,
};

/** One document for people: `missing      docs/a.md: why`. */
export function verifiedText(
  { id, path, result, reason }: VerifiedDocument,
  shown: ShownPath,
): Text[] {
  const colour = colours[result] ?? red;
  const name = result.replace("-", " ").padEnd(12);
  const place = neutraliseLine(path === null ? id : shown(path));
  return [colour(name), place, dim(reason === "" ? "" : `: ${neutraliseLine(reason)}`)];
}

/** Writes one document on stdout. */
export async function writeVerifiedLine(
  output: Output,
  document: VerifiedDocument,
  shown: ShownPath,
): Promise<void> {
  await output.line(...verifiedText(document, shown));
}

/** A document with each request and what its response proves. */
export async function writeExplained(
  output: Output,
  document: VerifiedDocument,
  shown: ShownPath,
): Promise<void> {
  const { id, path, result, reason, evidence, sentAt } = document;
  await output.line(bold(neutraliseLine(path === null ? id : shown(path))));
  const colour = colours[result] ?? red;
  const why = reason === "" ? "" : `: ${neutraliseLine(reason)}`;
  await output.line("  result    ", colour(result.replace("-", " ")), why);
  await output.line(`  id        ${neutraliseLine(id)}`);
  if (sentAt !== null) await output.line(`  uploaded  ${sentAt}`);
  for (const { request, status, proves } of evidence) {
    await output.line(`  ${status ?? "—"}  ${neutraliseLine(request)}`);
    await output.line(dim(`       proves: ${neutraliseLine(proves)}`));
  }
}
