import * as z from "zod/mini";
import { bareWords, words } from "../words.ts";
import {
  Document,
  filledList,
  NamedDocument,
  share,
  text,
  Wanted,
  WeightedDocument,
  whole,
} from "./members.ts";

type Words = typeof words;
type Optional<Schema extends z.ZodMiniType> = z.ZodMiniOptional<Schema>;
type WordMembers = {
  [Name in keyof Words as Name | `not-${Name}`]: Optional<Words[Name]["schema"]>;
};

const wordMembers = Object.fromEntries(
  ["", "not-"].flatMap((prefix) =>
    Object.entries(words).map(([name, { schema }]) => [prefix + name, z.optional(schema)]),
  ),
) as unknown as WordMembers;

const ExpectedWord = z
  .strictObject({
    ...wordMembers,
    judge: z.optional(
      z
        .strictObject({
          rubric: text("what a good answer does, for the judging model"),
          threshold: share(1, "least score that passes, up to 1"),
        })
        .check(z.describe("a model scores the answer; needs `judge` of the suite")),
    ),
  })
  .check(
    z.refine((word: object) => Object.keys(word).length === 1, {
      error: "write one word in each item of `expect`, for example `- contains: 28 days`",
    }),
  );

const BareWord = z.enum([...bareWords, ...bareWords.map((word) => `not-${word}` as const)]);

const largestId = 2 ** 31 - 1;
const agent = z
  .union([whole(0, largestId, "id of the agent"), text("name of the agent", 200)], {
    error: "expected the id or the name of an agent",
  })
  .check(z.describe("agent that answers: its id or its name (default: the service's own)"));
const k = whole(1, 100, "how many of the first documents count (default: 5)");
const match = z
  .enum(["all", "any"])
  .check(
    z.describe(
      "all (default): each document of must_retrieve must be among the first k; any: one is enough",
    ),
  );
const profile = text("profile of the person who asks (default: the profile of the run)", 200);
const repeat = whole(1, 100, "how often the question is asked (default: 1; `eval answers` only)");
const threshold = share(
  1,
  "share of the repetitions that must pass, above 0 and up to 1 (default: 1)",
);

const Filters = z
  .strictObject({
    source_types: z.optional(filledList(text("source type", 200), "only these source types")),
    document_sets: z.optional(filledList(text("document set", 200), "only these document sets")),
    tags: z.optional(
      filledList(
        z
          .string()
          .check(z.regex(/^[^=]+=/, { error: "expected KEY=VALUE" }), z.describe("KEY=VALUE")),
        "only documents with these tags",
      ),
    ),
    since: z.optional(
      z.string().check(
        z.regex(/^(\d{1,6}[mhdw]|\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?)$/, {
          error: "expected 7d, 12h or a date like 2026-01-31",
        }),
        z.describe("only newer documents: 7d, 12h, 2026-01-31"),
      ),
    ),
  })
  .check(z.describe("which documents may be found; as the flags of `knowctl search`"));

/** Members of a case that `defaults` may have for all. */
const defaults = {
  agent: z.optional(agent),
  filters: z.optional(Filters),
  profile: z.optional(profile),
  k: z.optional(k),
  match: z.optional(match),
  repeat: z.optional(repeat),
  threshold: z.optional(threshold),
};

/** Name of a variable, in `variables` and between braces. */
export const variableName = /^[A-Za-z_\u00C0-\u1FFF\u2C00-\uD7FF][\w\u00C0-\u1FFF\u2C00-\uD7FF-]*$/;

// Without \p{L}: validators of other languages read the pattern as well. The gap has no letters.
const caseId = /^[A-Za-z0-9\u00C0-\u1FFF\u2C00-\uD7FF][\w\u00C0-\u1FFF\u2C00-\uD7FF.-]{0,99}$/;

const Case = z.strictObject({
  id: z.string().check(
    z.regex(caseId, {
      error: 'expected up to 100 letters, digits, ".", "_" and "-"',
    }),
    z.describe("unique name of the case: letters, digits, `.`, `_`, `-`"),
  ),
  group: z.optional(text("the results are also shown per group", 100)),
  question: text("asked as written; {{name}} stands for a variable"),
  ...defaults,
  must_retrieve: z.optional(filledList(Wanted, "documents that must be found")),
  must_not_retrieve: z.optional(filledList(Document, "documents that must not be found")),
  expect: z.optional(
    filledList(
      z.union([BareWord, ExpectedWord], { error: "expected a word with its value" }),
      "what the answer must be (`eval answers` only)",
    ),
  ),
  review: z.optional(
    z.boolean().check(z.describe("true: drafted and not yet reviewed, so the case does not count")),
  ),
});

/** A suite file. */
export const SuiteContent = z.strictObject({
  version: z.literal(1).check(z.describe("version of this format")),
  $schema: z.optional(z.string().check(z.describe("for editors: address of this schema"))),
  defaults: z.optional(
    z.strictObject(defaults).check(z.describe("members of each case that does not set them")),
  ),
  variables: z.optional(
    z
      .record(
        z.string().check(z.regex(variableName)),
        z.union([z.string(), z.int()], { error: "expected text or a whole number" }),
      )
      .check(z.describe("texts for {{name}} in questions, texts and rubrics")),
  ),
  judge: z.optional(
    z
      .strictObject({
        base_url: z.string().check(
          z.regex(/^https?:\/\/[^\s/\\@]+(\/[^\s\\]*)?$/, {
            error: "expected an address like http://localhost:11434/v1, without user and key",
          }),
          z.describe("address of an OpenAI-compatible server, without a key"),
        ),
        model: text("name of the model", 200),
        key_variable: z.optional(
          z.string().check(
            // A suite may come from somebody else: it must not send any other variable to its server.
            z.regex(/^JUDGE_[A-Za-z0-9_]+$/, {
              error: "expected an environment variable whose name begins with JUDGE_",
            }),
            z.describe("environment variable that holds the key; its name begins with JUDGE_"),
          ),
        ),
      })
      .check(z.describe("the model behind the word `judge`; used only where a case has this word")),
  ),
  cases: z.array(Case).check(z.maxLength(10_000), z.describe("the questions")),
});
export type SuiteContent = z.infer<typeof SuiteContent>;
export type CaseContent = SuiteContent["cases"][number];

/** Members of objects in a suite, by the name of the member that holds the object, for suggestions. */
export const knownMembers: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(SuiteContent.shape),
  defaults: Object.keys(defaults),
  filters: Object.keys(Filters.shape),
  judge: ["base_url", "model", "key_variable", "rubric", "threshold"],
  cases: Object.keys(Case.shape),
  expect: Object.keys(ExpectedWord.shape),
  documents: ["path", "id", "link", "relevance"],
};

/** Writes "exactly one of path, id and link" so that editors complete it. */
function asOneOfThree(schema: z.core.JSONSchema.BaseSchema): void {
  const { properties = {} } = schema;
  const { relevance } = properties;
  schema.anyOf = ["path", "id", "link"].map((name) => ({
    type: "object",
    properties: {
      [name]: properties[name] ?? {},
      ...(relevance === undefined ? {} : { relevance }),
    },
    required: [name],
    additionalProperties: false,
  }));
  delete schema.type;
  delete schema.properties;
  delete schema.additionalProperties;
}

/** JSON Schema (draft 2020-12) of a suite; `schema/eval-suite.schema.json` is its text. */
export function suiteJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(SuiteContent, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      // Refinements have no form in JSON Schema of their own.
      if (zodSchema === ExpectedWord)
        Object.assign(jsonSchema, { minProperties: 1, maxProperties: 1 });
      if (zodSchema === NamedDocument || zodSchema === WeightedDocument) asOneOfThree(jsonSchema);
    },
  });
  return {
    $schema,
    title: "knowctl suite",
    description: "Questions for `knowctl eval`, with what must be found and answered.",
    ...rest,
  };
}
