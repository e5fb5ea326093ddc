import type { Client } from "../client.ts";

/**
 * The address of a file that a tool made, for people: `path` is an address, a
 * path of the service with or without its `/api`, or the file's id.
 */
export function urlOfFile(client: Client, path: string): string {
  if (/^https?:\/\//i.test(path)) return path;
  if (!path.startsWith("/")) {
    // Half a character cannot be encoded.
    return client.url(client.dialect.paths.madeFile(path.toWellFormed()));
  }
  return client.url(path.startsWith("/api/") ? path : `/api${path}`);
}
