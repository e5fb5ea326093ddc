/**
 * The raw headers of a response: name, value, name, value … in bytes. Decoded on demand:
 * a bulk upload reads only two headers of most responses.
 */
export type Headers = readonly Buffer[];

/** The value of a header, or the first of several values; `name` in lower case. */
export function header(headers: Headers, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    const each = headers[at];
    if (each?.length === name.length && each.toString("latin1").toLowerCase() === name) {
      return headers[at + 1]?.toString("latin1");
    }
  }
  return undefined;
}

/** All headers by lower-case name; a repeated header has a list of values. */
export function allHeaders(headers: Headers): Record<string, string | string[]> {
  const all = new Map<string, string | string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]?.toString("latin1").toLowerCase() ?? "";
    const value = headers[at + 1]?.toString("latin1") ?? "";
    const before = all.get(name);
    all.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(all);
}
