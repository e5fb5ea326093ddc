/** Front matter keys by meaning, in order of precedence. */
export interface FrontMatterKeys {
  id: readonly string[];
  title: readonly string[];
  link: readonly string[];
  source: readonly string[];
  updatedAt: readonly string[];
  owners: readonly string[];
  /** These are the primary owners if `owners` has no value. */
  secondaryOwners: readonly string[];
  tags: readonly string[];
  ingest: readonly string[];
  draft: readonly string[];
}

export const defaultKeys: FrontMatterKeys = {
  id: ["id"],
  title: ["title"],
  link: ["link", "url", "permalink"],
  source: ["source"],
  updatedAt: ["updated", "lastmod", "last_updated", "date"],
  owners: ["owner", "owners"],
  secondaryOwners: ["author", "authors"],
  tags: ["tags", "keywords", "categories"],
  ingest: ["ingest"],
  draft: ["draft"],
};
