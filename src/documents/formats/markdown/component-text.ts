/**
 * The text in the attributes of MDX components and in the parameters of shortcodes: what they
 * show is not known, but the words in a title or a description are shown somewhere.
 */
export interface ComponentText {
  /** What heads the content: a title or label, linked if there is a link. */
  label: string | undefined;
  /** Everything else, in order. */
  rest: readonly string[];
  /** A link without words of its own. */
  href: string | undefined;
}

const labelKeys = ["title", "label", "text"];
const calloutNames = new Set(["aside", "admonition", "callout", "alert", "hint"]);
/** Names of boxes whose name is shown as their title. */
const admonitions: ReadonlySet<string> = new Set(
  "abstract attention bug caution check danger error example failure hint important info note question quote seealso success summary tip todo warning".split(
    " ",
  ),
);

/** `FeatureState` and `feature-state` as words: `Feature state`. */
function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The title that a box shows, for example `Tip: Save often`; undefined for other names. */
export function admonitionLabel(type: string, title = ""): string | undefined {
  const name = type.toLowerCase();
  if (!admonitions.has(name)) return title === "" ? undefined : title;
  const word = wordsOf(name);
  return title === "" || title.toLowerCase().startsWith(name) ? title || word : `${word}: ${title}`;
}

function calloutLabel(name: string, values: ReadonlyMap<string, string>): string | undefined {
  const plain = name.toLowerCase();
  if (admonitions.has(plain) && plain !== "hint") return plain;
  return calloutNames.has(plain) ? (values.get("type") ?? values.get("color")) : undefined;
}

/** A link target as Markdown writes it. */
export const destination = (target: string): string =>
  /[\s()<>]/.test(target) ? `<${target.replace(/[<>\s]+/g, "%20")}>` : target;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

function imageText(values: ReadonlyMap<string, string>): string | undefined {
  const source = values.get("src") ?? values.get("source");
  if (source === undefined || /[\s()]/.test(source)) return undefined;
  return `![${oneLine(values.get("alt") ?? "").replace(/[[\]]/g, " ")}](${source})`;
}

/**
 * The text of a component or shortcode from its plain attributes; `keys` are the attributes whose
 * values are text for readers. A box with content is headed by its type.
 */
export function componentText(
  name: string,
  values: ReadonlyMap<string, string>,
  keys: readonly string[],
  hasContent: boolean,
): ComponentText {
  const texts = new Map(
    keys.flatMap((key) => {
      const text = oneLine(values.get(key) ?? "");
      return text === "" ? [] : [[key, text] as const];
    }),
  );
  const image = texts.has("alt") ? imageText(values) : undefined;
  if (image !== undefined) texts.set("alt", image);
  const version = texts.get("v");
  if (version !== undefined) texts.set("v", `${wordsOf(name)} ${version}`);
  const href = texts.get("href");
  texts.delete("href");
  const labelKey = labelKeys.find((key) => texts.has(key));
  const title = labelKey === undefined ? undefined : texts.get(labelKey);
  if (labelKey !== undefined) texts.delete(labelKey);
  const rest = [...texts.values()];
  const callout = hasContent ? calloutLabel(name, values) : undefined;
  const label = callout === undefined ? title : admonitionLabel(callout, title);
  if (href === undefined) return { label, rest, href };
  if (label !== undefined) {
    return { label: `[${label}](${destination(href)})`, rest, href: undefined };
  }
  const [first, ...others] = rest;
  return first === undefined
    ? { label, rest, href }
    : { label, rest: [`[${first}](${destination(href)})`, ...others], href: undefined };
}
