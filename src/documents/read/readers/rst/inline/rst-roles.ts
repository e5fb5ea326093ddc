import { codeHtml, linkHtml, plainOf, unescaped } from "../rst-html.ts";

// Roles whose text is prose. All other roles name code, keys or files.
const prose = new Set(
  "ref doc term numref abbr abbreviation acronym any title title-reference t emphasis strong sub subscript guilabel menuselection dfn eq download math index keyword manpage newsgroup program mailheader cite".split(
    " ",
  ),
);

// Roles whose whole text is shown, also what looks like a target: `:code:`cp <file>``.
const whole = new Set(
  "abbr math code literal samp file kbd command makevar regexp mimetype guilabel menuselection raw".split(
    " ",
  ),
);

/** Text and target of `text <target>`. */
interface Split {
  text: string;
  target: string;
}

const documents = new Map<string, (number: string) => [text: string, address: string]>([
  ["pep", (number) => [`PEP ${number}`, `https://peps.python.org/pep-${number.padStart(4, "0")}/`]],
  ["rfc", (number) => [`RFC ${number}`, `https://datatracker.ietf.org/doc/html/rfc${number}.html`]],
]);

/** Text and address of a numbered document, with the place in it: `8#naming-conventions`. */
function numbered(role: string, written: string): [text: string, address: string] | undefined {
  const [, number, place = ""] = /^(\d{1,6})(#[\w.-]+)?$/.exec(written.trim()) ?? [];
  const found =
    number === undefined ? undefined : documents.get(role.replace("-reference", ""))?.(number);
  return found && [found[0] + place, found[1] + place];
}

/** What a page shows for the text of a role, as HTML; "" is the role of text without a role. */
export function roleText(role: string, content: string, found: Split | undefined): string {
  const split = role === "" || whole.has(role) ? undefined : found;
  const document = numbered(role, split?.target ?? content);
  if (document) return linkHtml(unescaped(split?.text ?? document[0]), document[1]);
  if (role === "abbr" || role === "math") return unescaped(content);
  const named = split?.text ?? content;
  if (role === "sup" || role === "superscript") return `<sup>${unescaped(named)}</sup>`;
  if (role === "guilabel" || role === "menuselection") {
    return unescaped(named.replace(/&(?=\S)/g, ""));
  }
  const html = unescaped(named);
  if (role === "" && /[_*]/.test(html)) return `<code>${html}</code>`;
  if (role === "" || prose.has(role)) return html;
  const plain = plainOf(html).replace(/\s+/g, " ");
  if (role === "samp" || role === "file") return codeHtml(plain.replace(/[{}]/g, ""));
  const last = !split && plain.startsWith("~") ? (/[^.]*$/.exec(plain)?.[0] ?? "") : "";
  return codeHtml(last || plain.replace(/^[!~]/, ""));
}
