/** Front matter keys by meaning, in order of precedence. */
export interface FrontMatterKeys {
  id: readonly string[];
  title: readonly string[];
  semanticIdentifier: readonly string[];
  link: readonly string[];
  source: readonly string[];
  updatedAt: readonly string[];
  /** Read only if the service stores when a document was created. */
  createdAt: readonly string[];
  owners: readonly string[];
  secondaryOwners: readonly string[];
  /** The primary owners if `owners` has no value, else the secondary owners. */
  authors: readonly string[];
  tags: readonly string[];
  ingest: readonly string[];
  draft: readonly string[];
}

export const defaultKeys: FrontMatterKeys = {
  id: ["id"],
  title: ["title"],
  semanticIdentifier: ["semantic_identifier"],
  link: ["link", "url", "permalink"],
  source: ["source"],
  updatedAt: ["doc_updated_at", "updated", "lastmod", "last_updated", "date"],
  createdAt: ["doc_created_at", "created", "created_at"],
  owners: ["primary_owners", "owner", "owners"],
  secondaryOwners: ["secondary_owners"],
  authors: ["author", "authors"],
  tags: ["tags", "keywords", "categories"],
  ingest: ["ingest"],
  draft: ["draft"],
};
