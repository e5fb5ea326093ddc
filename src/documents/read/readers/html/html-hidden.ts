import type { Open } from "./html-tokens.ts";

// Elements without text of the page, or with text of the site around it.
const hiddenElements = new Set(
  "script style noscript template svg nav iframe object audio video canvas button select datalist xmp noembed title textarea".split(
    " ",
  ),
);
/** Buttons are no text, but the labels of tabs are. */
export const isHiddenElement = ({ name, attributes }: Open): boolean =>
  hiddenElements.has(name) && !(name === "button" && attributes.get("role") === "tab");
