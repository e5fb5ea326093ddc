/** Finds where a JSON value ends in a text that grows. Checks nothing else of it. */
export interface Extent {
  /**
   * Offset after the value that begins at `start`; undefined where the text ends before, unless it
   * `isEnd`. Until it is found, call it again with the longer text.
   */
  endOf(text: string, start: number, isEnd: boolean): number | undefined;
  /** Tells that the offsets of the text have changed. */
  moveBy(offset: number): void;
}

const structure = /["[\]{}]/g;
const scalarEnd = /[,\]}\s]/g;

/** Creates an Extent. It continues where the shorter text ended, so each character costs once. */
export function createExtent(): Extent {
  let from = 0;
  let depth = 0;
  let isInString = false;
  const leaveString = (text: string): boolean => {
    for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
      let before = end;
      while (text[before - 1] === "\\") before--;
      if ((end - before) % 2 === 1) continue;
      from = end + 1;
      isInString = false;
      return true;
    }
    from = text.length;
    return false;
  };
  const scan = (text: string): number | undefined => {
    for (;;) {
      if (isInString) {
        if (!leaveString(text)) return undefined;
        if (depth === 0) return from;
      }
      structure.lastIndex = from;
      const found = structure.exec(text)?.[0];
      from = found === undefined ? text.length : structure.lastIndex;
      if (found === undefined) return undefined;
      if (found === '"') isInString = true;
      else if (found === "{" || found === "[") depth++;
      else if (--depth <= 0) return from;
    }
  };
  const scalar = (text: string, start: number): number | undefined => {
    scalarEnd.lastIndex = start;
    return scalarEnd.exec(text)?.index;
  };
  return {
    endOf(text, start, isEnd) {
      from = Math.max(from, start);
      const isScalar = !'"[{'.includes(text[start] ?? "");
      const end = isScalar ? scalar(text, start) : scan(text);
      if (end === undefined && !isEnd) return undefined;
      from = depth = 0;
      isInString = false;
      return end ?? text.length;
    },
    moveBy(offset) {
      from = Math.max(0, from + offset);
    },
  };
}
