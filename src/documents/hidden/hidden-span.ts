const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

// HTML Standard, 13.1.2: elements without content.
const voids = words("area base br col embed hr img input link meta source track wbr");
// HTML Standard, 13.1.2.4: a start tag of these ends a paragraph.
const endsParagraph = words(
  "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section table ul",
);
const rows = words("tr tbody thead tfoot");
const cells = words("td th tr tbody thead tfoot");
const groups = words("tbody thead tfoot");
const terms = words("dt dd");
const impliedEnds: Readonly<Record<string, ReadonlySet<string>>> = {
  p: endsParagraph,
  li: words("li"),
  dt: terms,
  dd: terms,
  td: cells,
  th: cells,
  tr: rows,
  thead: groups,
  tbody: groups,
  option: words("option optgroup"),
};

/** Open elements of a name. The time of each call is constant over a text. */
interface Stack {
  names: string[];
  counts: Map<string, number>;
}

const createStack = (): Stack => ({ names: [], counts: new Map() });

function push(stack: Stack, name: string): void {
  stack.names.push(name);
  stack.counts.set(name, (stack.counts.get(name) ?? 0) + 1);
}

function pop(stack: Stack): string | undefined {
  const name = stack.names.pop();
  if (name !== undefined) stack.counts.set(name, (stack.counts.get(name) ?? 0) - 1);
  return name;
}

/** What a tag does to the hidden part of a page. */
export type Change =
  /** The page goes on as before. */
  | "none"
  /** A hidden element begins with this tag. */
  | "begins"
  /** The tag is a hidden element without content. */
  | "alone"
  /** The hidden element ended before this tag. */
  | "ended"
  /** It ends with this tag. */
  | "ends"
  /** One ended before this tag, and the next begins with it. */
  | "restarts";

/** Finds where hidden elements end, as browsers do: also without an end tag. */
export interface HiddenSpan {
  isOpen(): boolean;
  open(name: string, isHidden: boolean): Change;
  close(name: string): Change;
  /** Ends the hidden element, because the text around it ended. */
  end(): void;
}

/** Creates the state for the tags of one text, in order. */
export function createHiddenSpan(): HiddenSpan {
  const around = createStack();
  let inside: Stack | undefined;
  const openVisible = (name: string, isHidden: boolean): Change => {
    if (voids.has(name)) return isHidden ? "alone" : "none";
    if (!isHidden) {
      push(around, name);
      return "none";
    }
    inside = createStack();
    push(inside, name);
    return "begins";
  };
  return {
    isOpen: () => inside !== undefined,
    open(name, isHidden) {
      if (!inside) return openVisible(name, isHidden);
      while (impliedEnds[inside.names.at(-1) ?? ""]?.has(name)) pop(inside);
      if (inside.names.length === 0) {
        inside = undefined;
        const next = openVisible(name, isHidden);
        return next === "begins" ? "restarts" : "ended";
      }
      if (!voids.has(name)) push(inside, name);
      return "none";
    },
    close(name) {
      if (inside && (inside.counts.get(name) ?? 0) > 0) {
        while (pop(inside) !== name);
        if (inside.names.length > 0) return "none";
        inside = undefined;
        return "ends";
      }
      if ((around.counts.get(name) ?? 0) === 0) return "none";
      while (pop(around) !== name);
      if (!inside) return "none";
      inside = undefined;
      return "ended";
    },
    end() {
      inside = undefined;
    },
  };
}
