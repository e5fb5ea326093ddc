/** A fact about a document that a run reports once for all documents, with their number. */
export interface Notice {
  /**
   * `access`: a front matter key that seems to restrict who may read. `dropped`: a member
   * that the service accepts and drops. `unknown`: a member that the service does not know.
   * `link`: the document has no link. `made`: a template or a style made its link. `deadLink`: it
   * has relative links to no file of the project. `leftOut`: the page shows something that the document lacks.
   */
  kind: "access" | "dropped" | "unknown" | "link" | "made" | "deadLink" | "leftOut";
  /**
   * Key or member: `private`, `chunk_count`; of `link` the reason; of `made` the link; of `leftOut` a
   * LeftOutKind.
   */
  name: string;
  /** Of `leftOut` and `deadLink`: how often in the document, and the first, with its line. */
  times?: number;
  example?: string;
}
