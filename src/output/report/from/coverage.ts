import type { CoverageReport, CoveredDocument } from "../../../checks/eval/coverage.ts";
import { countOf, formatCount } from "../../terminal/progress.ts";
import { asDrawing, asNumber, asPath, type Item, type Report, type Table } from "../report.ts";

const words = {
  covered: { level: "fine", test: "passed", word: "covered" },
  uncovered: { level: "warning", test: "skipped", word: "uncovered" },
  "not-sent": { level: "note", test: "skipped", word: "not sent" },
} as const;
const messages = {
  uncovered: "no question retrieves or cites it",
  "not-sent": "no upload of it is recorded, so no question can find it",
};

function documentItem({ path, result, questions }: CoveredDocument): Item {
  const { word } = words[result];
  const message = result === "covered" ? countOf(questions, "question") : messages[result];
  return { ...words[result], group: word, title: `Document ${word}`, path, message };
}

const questionItem = ({ id, question }: CoverageReport["withoutSource"][number]): Item => ({
  level: "warning",
  test: "skipped",
  word: "no source",
  group: "no source",
  title: `No document is retrieved: ${id}`,
  message: "no document is retrieved",
  path: null,
  name: id,
  subject: question,
});

/** Documents and covered ones by folder, the folders with most uncovered documents first. */
function foldersTable({ documents }: CoverageReport): Table {
  const folders = new Map<string, { all: number; covered: number }>();
  for (const { path, result } of documents) {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    const counts = folders.get(folder) ?? { all: 0, covered: 0 };
    folders.set(folder, counts);
    counts.all++;
    if (result === "covered") counts.covered++;
  }
  const sorted = [...folders].toSorted(
    ([, a], [, b]) => b.all - b.covered - (a.all - a.covered) || b.all - a.all,
  );
  return {
    title: "Folders",
    columns: [asPath("folder"), asNumber("documents"), asNumber("covered"), asDrawing("share")],
    rows: sorted.map(([folder, { all, covered }]) => [
      folder,
      formatCount(all),
      formatCount(covered),
      { share: covered / all },
    ]),
    people: "verbose",
  };
}

/** The report of a coverage. Its texts must be redacted. */
export function coverageReport(result: CoverageReport): Report {
  const { documents, ...head } = result;
  const { summary, status, unknown, withoutSource } = head;
  const isPartial = status === "partial";
  const isWhole = summary.covered === summary.documents && summary.withoutSource === 0;
  const { covered, uncovered, notSent, questions } = summary;
  return {
    command: "eval coverage",
    verdict: isPartial
      ? { word: "Incomplete", tone: "bad" }
      : isWhole
        ? { word: "Covered", tone: "ok" }
        : { word: "Gaps", tone: "warn" },
    title: `${formatCount(covered)} of ${countOf(summary.documents, "document")} covered by ${countOf(questions, "question")}`,
    facts: [countOf(summary.documents, "document"), countOf(questions, "question")],
    notes: unknown.map((text) => ({ tone: "warn", text })),
    counts: [
      { name: "covered", count: covered, tone: "ok", part: "same" },
      { name: "uncovered", count: uncovered, tone: "warn", part: "open" },
      { name: "not sent", count: notSent, tone: "soft", part: "left" },
      { name: "questions without a source", count: summary.withoutSource, tone: "warn" },
      { name: "questions not asked", count: summary.notAsked, tone: "soft" },
    ],
    items: [...withoutSource.map(questionItem), ...documents.map(documentItem)],
    blocks: [foldersTable(result), "items"],
    rules: [],
    tallies: [],
    properties: { ...summary },
    data: {
      head: { ...head },
      list: "documents",
      type: "document",
      items: documents,
    },
  };
}
