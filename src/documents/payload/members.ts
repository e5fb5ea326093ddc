import { isJsonObject, type JsonObject } from "../front-matter/values.ts";
import type { Notice } from "./notices.ts";

// observed-service.md 3.1
const documentMembers = [
  "id",
  "semantic_identifier",
  "title",
  "sections",
  "source",
  "metadata",
  "doc_updated_at",
  "doc_created_at",
  "primary_owners",
  "secondary_owners",
  "file_id",
  "from_ingestion_api",
];
const droppedMembers = new Set([
  "chunk_count",
  "additional_info",
  "external_access",
  "doc_metadata",
  "parent_hierarchy_raw_node_id",
  "parent_hierarchy_node_id",
]);
const sectionMembers = ["text", "link", "heading", "image_file_id", "csv_file_id", "type"];
export const ownerMembers: readonly string[] = [
  "display_name",
  "first_name",
  "middle_initial",
  "last_name",
  "email",
];

const parts: Record<string, readonly string[]> = {
  sections: sectionMembers,
  primary_owners: ownerMembers,
  secondary_owners: ownerMembers,
};

/** Known members on the same level as `name`: for `sections.txt`, for example `sections.text`. */
export function knownMembers(name: string): readonly string[] {
  const [list = "", member] = name.split(".");
  if (member === undefined) return documentMembers;
  if (list === "request") return ["request.document", "request.cc_pair_id"];
  return (parts[list] ?? []).map((each) => `${list}.${each}`);
}

function unknownIn(list: string, value: unknown, known: readonly string[]): string[] {
  const elements = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return elements.flatMap((each) =>
    Object.keys(each)
      .filter((name) => !known.includes(name))
      .map((name) => `${list}.${name}`),
  );
}

/** Members without effect in a document or in the `{document, cc_pair_id}` around it, each once. */
export function uselessMembers(document: JsonObject, request: JsonObject | undefined): Notice[] {
  const names = Object.keys(document).filter((name) => !documentMembers.includes(name));
  const unknown = [
    ...names.filter((name) => !droppedMembers.has(name)),
    ...Object.entries(parts).flatMap(([list, known]) => unknownIn(list, document[list], known)),
    ...unknownIn("request", [request], ["document", "cc_pair_id"]),
  ];
  return [
    ...names
      .filter((name) => droppedMembers.has(name))
      .map((name): Notice => ({ kind: "dropped", name })),
    ...[...new Set(unknown)].map((name): Notice => ({ kind: "unknown", name })),
  ];
}
