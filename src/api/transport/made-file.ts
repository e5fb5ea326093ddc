import type { Client } from "../client.ts";

/**
 * The URL of a file that a tool made, for display. `path` is a URL, a path of the service
 * with or without `/api`, or the file's id.
 */
export function urlOfFile(client: Client, path: string): string {
  if (/^https?:\/\//i.test(path)) return path;
  if (!path.startsWith("/")) {
    // encodeURIComponent throws for a lone surrogate.
    return client.url(client.dialect.paths.madeFile(path.toWellFormed()));
  }
  return client.url(path.startsWith("/api/") ? path : `/api${path}`);
}
