/** Start and end of the line of an offset. The offset must grow from call to call. */
export type LineOf = (offset: number) => readonly [start: number, end: number];

/** Looks at each character once, however often it is asked about a line. */
export function createLineOf(text: string): LineOf {
  let line: readonly [number, number] = [0, -1];
  return (offset) => {
    if (offset > line[1]) {
      const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
      const end = text.indexOf("\n", offset);
      line = [start, end === -1 ? text.length : end];
    }
    return line;
  };
}
