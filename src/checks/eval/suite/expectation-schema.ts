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

const names = {
  path: z.optional(text("path of the file, relative to the project root", 4096)),
  id: z.optional(text("id of the document", 4096)),
  link: z.optional(text("link of the document; a fragment counts only if written here", 4096)),
};

const hasOneName = z.refine(
  (ref) => ["path", "id", "link"].filter((name) => name in (ref as object)).length === 1,
  { error: "name the document by exactly one of path, id, link" },
);

const path = text("path of the file, relative to the project root", 4096);
export const NamedDocument = z.strictObject(names).check(hasOneName);
export const WeightedDocument = z
  .strictObject({
    ...names,
    relevance: z.optional(
      z
        .number()
        .check(z.gt(0), z.maximum(100), z.describe("weight of the document in nDCG (default: 1)")),
    ),
  })
  .check(hasOneName);
const oneDocument = { error: "expected a path, {id: …} or {link: …}" };
export const Document = z.union([path, NamedDocument], oneDocument);
export const Wanted = z.union([path, WeightedDocument], oneDocument);

/** Words without a value; they may stand alone: `- answered`. */
const bareWords = ["is-json", "answered", "declined"] as const;

const texts = (description: string) => filledList(text("text"), description);
const documents = (description: string) =>
  z
    .union([Document, filledList(Document, description)], {
      error: "expected a document or a list of documents",
    })
    .check(z.describe(description));
const set = (description: string) => z.literal(true).check(z.describe(description));

const wordValues = {
  contains: text("the answer contains this text, in the same case"),
  icontains: text("the answer contains this text, in any case"),
  "contains-any": texts("the answer contains at least one of these texts"),
  "contains-all": texts("the answer contains each of these texts"),
  regex: text("this JavaScript regular expression matches in the answer", 1000),
  "is-json": z
    .union([z.literal(true), z.record(z.string(), z.json())], {
      error: "expected true or a JSON Schema",
    })
    .check(z.describe("the whole answer is JSON; optionally valid against this JSON Schema")),
  latency: whole(1, 86_400_000, "the answer takes at most this many milliseconds"),
  cites: documents("the answer cites each of these documents; with not-, none of them"),
  retrieves: documents("each of these documents was retrieved; with not-, none of them"),
  "min-sources": whole(1, 1000, "the answer cites at least this many different documents"),
  answered: set("the answer cites a document and has no phrase of refusal"),
  declined: set("the answer has a phrase of refusal and cites nothing"),
};

type WordValues = typeof wordValues;
/** A word of `expect` that needs no judge, without `not-`. */
export type WordName = keyof WordValues;

type Negated = { [Word in keyof WordValues as `not-${Word}`]: WordValues[Word] };

const negated = Object.fromEntries(
  Object.entries(wordValues).map(([word, value]) => [`not-${word}`, value]),
) as unknown as Negated;

const optional = <Shape extends Record<string, z.ZodMiniType>>(shape: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([key, value]) => [key, z.optional(value)]),
  ) as unknown as { [Key in keyof Shape]: z.ZodMiniOptional<Shape[Key]> };

export const ExpectedWord = z
  .strictObject({
    ...optional(wordValues),
    ...optional(negated),
    judge: z.optional(
      z
        .strictObject({
          rubric: text("what a good answer does, for the judging model"),
          threshold: z
            .number()
            .check(z.gt(0), z.maximum(1), z.describe("least score that passes, up to 1")),
        })
        .check(z.describe("a model scores the answer; needs `judge` of the suite")),
    ),
  })
  .check(
    z.refine((word: object) => Object.keys(word).length === 1, {
      error: "write one word in each item of `expect`, for example `- contains: 28 days`",
    }),
  );

export const BareWord = z.enum([...bareWords, ...bareWords.map((word) => `not-${word}` as const)]);
