/** A fact about a document that a run reports once for all documents, with their number. */
export interface Notice {
  /**
   * `access`: a front matter key that seems to restrict who may read. `dropped`: a member
   * that the service accepts and drops. `unknown`: a member that the service does not know.
   */
  kind: "access" | "dropped" | "unknown";
  /** Key or member: `private`, `chunk_count`, `sections.txt`. */
  name: string;
}
