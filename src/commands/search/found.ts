import type { FoundDocument, FoundSection } from "../../api/search.ts";
import type { SearchDoc } from "../../api/chat-schemas.ts";

/** A document that a search found, before its local file is known. */
export interface Found {
  id: string | null;
  title: string | null;
  link: string | null;
  /** A part of the text, with the hits between `<hi>` and `</hi>` where the service marks them. */
  text: string;
  source: string | null;
  updatedAt: string | null;
  score: number | null;
  /** Hidden by an administrator: only the administrators' search finds it. */
  hidden: boolean;
}

const filled = (text: string | null | undefined): string | null => text?.trim() || null;

/** The best section of each document, in the order of the service. */
function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Documents of a search that names document ids. */
export function foundDocuments(documents: readonly (FoundDocument | SearchDoc)[]): Found[] {
  return firstOfEach(documents, (each) => each.document_id).map((each) => {
    const { score, hidden, match_highlights: highlights } = each as FoundDocument;
    return {
      id: each.document_id,
      title: filled(each.semantic_identifier),
      link: filled(each.link),
      text: filled(highlights?.[0]) ?? filled(each.blurb) ?? "",
      source: filled(each.source_type),
      updatedAt: filled(each.updated_at),
      score: typeof score === "number" ? score : null,
      hidden: hidden === true,
    };
  });
}

/** Documents of the assisted search, which numbers them instead of naming their ids. */
export function foundSections(sections: readonly FoundSection[]): Found[] {
  const keyOf = ({ citation_id: number, link, title }: FoundSection): string =>
    typeof number === "number" ? `${number}` : JSON.stringify([link, title]);
  return firstOfEach(sections, keyOf).map((each) => ({
    id: null,
    title: filled(each.title),
    link: filled(each.link),
    text: filled(each.content) ?? "",
    source: filled(each.source_type),
    updatedAt: filled(each.updated_at),
    score: null,
    hidden: false,
  }));
}
