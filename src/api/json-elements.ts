/** Splits the text of one JSON array into the texts of its elements. */
export interface ElementSplitter {
  /** Returns the elements that `text` completes. Throws SyntaxError if the text is no array. */
  push(text: string): string[];
  /** Call it after the last text. Throws SyntaxError if the array has no end. */
  end(): void;
}

/** Maximum of characters of one element: a text without an end must not fill the memory. */
const maxElementChars = 1024 * 1024;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);

type Mark = "begin" | "next" | "end" | undefined;

/** Returns a function that takes the text character by character and finds the marks of the array. */
function createScan(): (code: number) => Mark {
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  return (code) => {
    if (isEscaped) isEscaped = false;
    else if (inString) {
      if (code === backslash) isEscaped = true;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === comma && depth <= 1) return "next";
    else if (opening.has(code)) return depth++ === 0 ? "begin" : undefined;
    else if (closing.has(code)) return --depth <= 0 ? "end" : undefined;
    return undefined;
  };
}

const isBlank = (text: string): boolean => /^[ \t\r\n]*$/.test(text);

/** Creates a splitter. It does not check the elements themselves: the caller parses each one. */
export function createElementSplitter(): ElementSplitter {
  const scan = createScan();
  let phase: "before" | "inside" | "after" = "before";
  let count = 0;
  let pending = "";
  const refuse = (): never => {
    throw new SyntaxError("not one JSON array");
  };
  /** Returns the element that ends at the mark; undefined for none. */
  const elementAt = (mark: Mark, character: string | undefined, text: string) => {
    if (mark === "begin") {
      if (phase !== "before" || character !== "[" || !isBlank(text)) refuse();
      phase = "inside";
      return undefined;
    }
    if (phase !== "inside") refuse();
    if (mark === "end") {
      if (character !== "]") refuse();
      phase = "after";
      if (count === 0 && isBlank(text)) return undefined;
    }
    count++;
    return text;
  };
  return {
    push(text) {
      const elements: string[] = [];
      let from = 0;
      for (let index = 0; index < text.length; index++) {
        const mark = scan(text.charCodeAt(index));
        if (mark === undefined) continue;
        const element = elementAt(mark, text[index], pending + text.slice(from, index));
        if (element !== undefined) elements.push(element);
        pending = "";
        from = index + 1;
      }
      pending += text.slice(from);
      if (pending.length > maxElementChars) refuse();
      return elements;
    },
    end() {
      if (phase !== "after" || !isBlank(pending)) refuse();
    },
  };
}
