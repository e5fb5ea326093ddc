import * as z from "zod/mini";
import { textOrNull, titled } from "../describe.ts";

/** One document of `knowctl search`. A member is null where the way of searching has none. */
const SearchResult = z.strictObject({
  rank: z.int().check(z.describe("place in the list, from 1")),
  id: textOrNull("id under which the service stores the document; null for --via assisted"),
  title: textOrNull("title of the document"),
  link: textOrNull("link of the document"),
  snippet: textOrNull("part of the text"),
  source: textOrNull("source type, for example file"),
  updatedAt: textOrNull("last update of the document, ISO 8601"),
  score: z.nullable(z.number()).check(z.describe("score of the service; higher is better")),
  path: textOrNull("local file, relative to the project root; null if the state has none"),
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
