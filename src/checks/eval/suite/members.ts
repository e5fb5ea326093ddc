// What the forms of suites and of their words are made of.
import * as z from "zod/mini";

/** A text that is not empty. Editors show the description from the JSON Schema. */
export const text = (description: string, most = 10_000) =>
  z.string().check(z.minLength(1), z.maxLength(most), z.describe(description));
/** A whole number within bounds. */
export const whole = (min: number, max: number, description: string) =>
  z.int().check(z.minimum(min), z.maximum(max), z.describe(description));
/** A list that is not empty. */
export const filledList = <Item extends z.ZodMiniType>(item: Item, description: string) =>
  z.array(item).check(z.minLength(1), z.describe(description));
/** A number above 0. */
export const share = (most: number, description: string) =>
  z.number().check(z.gt(0), z.maximum(most), z.describe(description));

const path = text("path of the file, relative to the project root", 4096);
const names = {
  path: z.optional(path),
  id: z.optional(text("id of the document", 4096)),
  link: z.optional(text("link of the document; a fragment counts only if written here", 4096)),
};
const hasOneName = z.refine(
  (ref) => ["path", "id", "link"].filter((name) => name in (ref as object)).length === 1,
  { error: "name the document by exactly one of path, id, link" },
);
export const NamedDocument = z.strictObject(names).check(hasOneName);
export const WeightedDocument = z
  .strictObject({
    ...names,
    relevance: z.optional(share(100, "weight of the document in nDCG (default: 1)")),
  })
  .check(hasOneName);
const oneDocument = { error: "expected a path, {id: …} or {link: …}" };
export const Document = z.union([path, NamedDocument], oneDocument);
export const Wanted = z.union([path, WeightedDocument], oneDocument);
