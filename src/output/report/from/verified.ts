import type { VerifiedDocument, VerifyResult } from "../../../checks/verify/decide.ts";
import type { Detail, Item } from "../report.ts";

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

export const wordOf = (result: VerifyResult): string => result.replace("-", " ");

type Judged = Pick<VerifiedDocument, "id" | "path" | "result" | "reason"> &
  Partial<Pick<VerifiedDocument, "evidence" | "sentAt">>;

function detailsOf({ id, path, evidence = [], sentAt }: Judged): Detail[] {
  if (evidence.length === 0) return [];
  const requests = evidence.map(({ request, status, proves }) => ({
    text: `${status ?? "no response"} ${request}`,
    note: proves,
  }));
  return [
    ...(path === null ? [] : [{ name: "id", lines: [{ text: id }], isLong: true }]),
    ...(sentAt ? [{ name: "uploaded", lines: [{ text: sentAt }], isLong: true }] : []),
    { name: "requests", lines: requests, isLong: true },
  ];
}

/** A checked document. An undecided one fails no test. */
export function verifiedItem(document: Judged, isFine: boolean): Item {
  const { id, path, result, reason } = document;
  const word = wordOf(result);
  const isOpen = result === "unknown";
  return {
    level: isFine ? "fine" : isOpen ? "warning" : "error",
    test: isFine ? "passed" : isOpen ? "skipped" : "failed",
    word,
    group: reason.split(": ")[0] ?? "",
    title: `Not in the index as uploaded: ${word}`,
    message: reason,
    path,
    id: path === null || !id.endsWith(path) ? id : undefined,
    details: detailsOf(document),
  };
}
