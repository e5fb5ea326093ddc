import * as z from "zod/mini";
import { titled } from "../describe.ts";

const optionalText = (description: string) => z.nullable(z.string()).check(z.describe(description));

/** One document of `knowctl search`. A member is null where the way of searching has none. */
const SearchResult = z.strictObject({
  rank: z.int().check(z.describe("place in the list, from 1")),
  id: optionalText("id under which the service stores the document; null for --via assisted"),
  title: optionalText("title of the document"),
  link: optionalText("link of the document"),
  snippet: optionalText("part of the text"),
  source: optionalText("source type, for example file"),
  updatedAt: optionalText("last update of the document, ISO 8601"),
  score: z.nullable(z.number()).check(z.describe("score of the service; higher is better")),
  path: optionalText("local file, relative to the project root; null if the state has none"),
  via: z
    .enum(["indexed", "keyword", "assisted", "chat"])
    .check(z.describe("way by which it was found")),
  sandbox: z
    .optional(z.literal(true))
    .check(z.describe("present if the sandbox was searched: its word search, not your service's")),
});

export const SearchResults = titled(
  z.array(SearchResult),
  "knowctl search results",
  "Documents of `knowctl search --output json`, the best first. A line of --output ndjson is one element.",
);

export type SearchResult = z.infer<typeof SearchResult>;
