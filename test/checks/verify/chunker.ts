/** Ways in which services cut texts, for tests. */
import { withoutRemovable } from "../../../src/checks/verify/read-chunks.ts";

export interface Page {
  title: string;
  sections: readonly string[];
  metadata: Readonly<Record<string, string>>;
}

export type Chunker = (page: Page) => string[];

const joined = ({ sections }: Page): string => sections.join("\n\n").trim();

/** Cuts anywhere, and keeps every character. Each chunk may repeat the end of the one before. */
function fixed(text: string, size: number, overlap = 0): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; start += size - overlap) {
    chunks.push(text.slice(start, start + size));
    if (start + size >= text.length) break;
  }
  return chunks.length === 0 ? [""] : chunks;
}

/** Joins parts to chunks of about a size; a chunk may begin with the last parts of the one before. */
function packed(parts: readonly string[], size: number, between: string, overlap = 0): string[] {
  const chunks: string[] = [];
  let open: string[] = [];
  let isNew = false;
  const length = (): number => open.join(between).length;
  for (const part of parts) {
    if (isNew && length() + part.length > size) {
      chunks.push(open.join(between));
      while (open.length > 0 && length() > overlap) open.shift();
      isNew = false;
    }
    open.push(part);
    isNew = true;
  }
  return isNew || chunks.length === 0 ? [...chunks, open.join(between)] : chunks;
}

const sentencesOf = (text: string): string[] => text.split(/(?<=[.!?])\s+/);

/** As the public service: the sections cleaned, joined while they fit, long ones cut by sentences. */
function asService({ sections }: Page, size: number): string[] {
  const chunks: string[] = [];
  let open = "";
  for (const section of sections.map(withoutRemovable)) {
    if (section === "") continue;
    if (open !== "" && open.length + section.length > size) {
      chunks.push(open);
      open = "";
    }
    if (section.length <= size) open += open === "" ? section : `\n\n${section}`;
    else chunks.push(...packed(section.split(/(?<=[.!?\n])/), size, ""));
  }
  return open === "" && chunks.length > 0 ? chunks : [...chunks, open];
}

const metadataText = ({ metadata }: Page): string =>
  `Metadata:\n${Object.entries(metadata)
    .map(([key, value]) => `\t${key} - ${value}`)
    .join("\n")}`;

export const ways: Record<string, Chunker> = {
  "fixed size": (page) => fixed(joined(page), 700),
  "fixed size, trimmed": (page) => fixed(joined(page), 700).map((each) => each.trim()),
  sentences: (page) => packed(sentencesOf(joined(page)), 600, " "),
  paragraphs: (page) => packed(joined(page).split(/\n\s*\n/), 800, "\n\n"),
  overlap: (page) => fixed(joined(page), 700, 90),
  "overlap of sentences": (page) => packed(sentencesOf(joined(page)), 600, " ", 150),
  "title and metadata": (page) =>
    packed(joined(page).split("\n"), 800, "\n").map(
      (each) => `${page.title}\n\r\n${each}\n\r\n${metadataText(page)}`,
    ),
  "one chunk": (page) => [joined(page)],
};

/** As a language model adds them: nothing tells them from older text. */
export const summarised: Chunker = (page) =>
  paragraphsWith(
    page,
    "This document explains how people ask for things and who decides.",
    "The chunk continues with details, exceptions and an example.",
  );

function paragraphsWith(page: Page, before: string, after: string): string[] {
  return ways["paragraphs"]!(page).map((each) => `${page.title}\n${before}\n${each}\n${after}`);
}

/** The public service removes dashes, quotes and emoji: texts that differ in them are the same. */
export const service: Chunker = (page) => asService(page, 1800);
