/** A fact about a document that a run reports once for all documents, with their number. */
export interface Notice {
  /**
   * `access`: a front matter key that seems to restrict who may read. `dropped`: a member
   * that the service accepts and drops. `unknown`: a member that the service does not know.
   * `link`: the document has no link.
   */
  kind: "access" | "dropped" | "unknown" | "link";
  /** Key or member: `private`, `chunk_count`, `sections.txt`; of `link` the reason. */
  name: string;
}
