/** Attributes by name, in lower case. */
interface Attributes {
  get(name: string): string | undefined;
}

// A declaration that no author wrote is data: the time stays linear.
const longestStyle = 2000;
const declaration = /^\s*display\s*:\s*([a-z-]+)\s*(!\s*important\s*)?$/i;

/** The value of `display` in the style of an element; undefined for none. */
export function displayOf(style: string | undefined): string | undefined {
  if (style === undefined || style.length > longestStyle) return undefined;
  let value: string | undefined;
  let isImportant = false;
  for (const each of style.replace(/\/\*.*?(?:\*\/|$)/gs, " ").split(";")) {
    const [, display, important] = declaration.exec(each) ?? [];
    if (display === undefined || (isImportant && important === undefined)) continue;
    value = display.toLowerCase();
    isImportant = important !== undefined;
  }
  return value;
}

/** Whether a script of the page shows the element when a reader asks for it. */
function startsHidden(attributes: Attributes, isControlled: (id: string) => boolean): boolean {
  const id = attributes.get("id") ?? "";
  return (
    attributes.get("role")?.trim().toLowerCase() === "tabpanel" || (id !== "" && isControlled(id))
  );
}

/**
 * Whether nobody sees an element: `hidden`, or `display: none` in its own style. An element that
 * only starts hidden is seen: one with the role of a panel, `hidden="until-found"`, or one that another
 * element controls. A class proves nothing. Names of attributes are in lower case.
 */
export function hidesElement(
  attributes: Attributes,
  isControlled: (id: string) => boolean,
): boolean {
  const hidden = attributes.get("hidden");
  // The style of an element wins over the attribute, which stands for `display: none`.
  const display = displayOf(attributes.get("style"));
  const isNone = display === "none";
  const isHidden = hidden !== undefined && hidden.trim().toLowerCase() !== "until-found";
  if (!isNone && (!isHidden || display !== undefined)) return false;
  return !startsHidden(attributes, isControlled);
}

const control =
  /\b(?:aria-controls|data-(?:bs-)?target)[ \t\n]*=[ \t\n]*\\?["'{]*([^"'>}]{1,1000})/gi;

/** Says which ids other elements of a page control. The page is read at the first question. */
export function createIsControlled(text: string): (id: string) => boolean {
  let ids: Set<string> | undefined;
  return (id) => {
    if (!ids) {
      const lists = [...text.matchAll(control)].map(([, list = ""]) => list.split(/\s+/));
      ids = new Set(lists.flat().map((each) => each.replace(/^#/, "")));
    }
    return ids.has(id);
  };
}
