/** Attributes of a document by their names in lower case. */
export interface Attributes {
  values: Map<string, string>;
  /** How many characters references and repeated cells may still add: values can refer to values. */
  left: number;
}

const mostAdded = 16 * 1024 * 1024;

// What Asciidoctor sets for a web page (docs.asciidoctor.org, "Document Attributes Reference").
const ofWebPage: readonly (readonly [string, string])[] = [
  ["asciidoctor", ""],
  ["asciidoctor-version", "2.0.23"],
  ["backend", "html5"],
  ["backend-html5", ""],
  ["basebackend", "html"],
  ["basebackend-html", ""],
  ["doctype", "article"],
  ["doctype-article", ""],
  ["filetype", "html"],
  ["filetype-html", ""],
  ["outfilesuffix", ".html"],
  ["safe-mode-level", "1"],
  ["safe-mode-name", "safe"],
  ["safe-mode-safe", ""],
  ["idprefix", "_"],
  ["idseparator", "_"],
  ["example-caption", "Example"],
  ["figure-caption", "Figure"],
  ["table-caption", "Table"],
];

// Characters that a document names so that they are no markup: replaced after all markup is read.
const characters: Readonly<Record<string, string>> = {
  empty: "",
  blank: "",
  sp: " ",
  nbsp: "\u00a0",
  zwsp: "",
  wj: "",
  apos: "'",
  quot: '"',
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  deg: "°",
  plus: "+",
  brvbar: "¦",
  vbar: "|",
  amp: "&",
  lt: "<",
  gt: ">",
  startsb: "[",
  endsb: "]",
  caret: "^",
  asterisk: "*",
  tilde: "~",
  backslash: "\\",
  backtick: "`",
  "two-colons": "::",
  "two-semicolons": ";;",
  cpp: "C++",
  cxx: "C++",
  pp: "++",
};

export function createAttributes(): Attributes {
  return { values: new Map(ofWebPage), left: mostAdded };
}

/** Replaces `{name}` by the value. An unknown name stays as written. */
export function substitute(attributes: Attributes, text: string): string {
  if (!text.includes("{")) return text;
  const { values } = attributes;
  return text.replace(
    /(\\?)\{(?:(counter2?):)?(\w[\w-]*)(\\?)\}/g,
    (all, escape: string, counter: string | undefined, written: string, end: string) => {
      if (end !== "") return all.replaceAll("\\", "");
      const name = written.toLowerCase();
      if (counter !== undefined && escape === "") {
        const next = String(Number(values.get(name) ?? 0) + 1);
        values.set(name, next);
        return counter === "counter" ? next : "";
      }
      const value = values.get(name);
      if (value === undefined || value.length > attributes.left) return all;
      if (escape !== "") return all.slice(1);
      attributes.left -= value.length;
      return value;
    },
  );
}

/** Replaces the names of characters, for example `{nbsp}`. */
export function substituteCharacters(text: string): string {
  if (!text.includes("{")) return text;
  return text.replace(/\{([a-z-]{2,14})\}/g, (all, name: string) =>
    Object.hasOwn(characters, name) ? (characters[name] ?? all) : all,
  );
}

const entry = /^:(!?)(\w[\w-]*)(!?):(?:[ \t]+(\S.*))?$/;

export const isEntry = (line: string): boolean => line.startsWith(":") && entry.test(line);

/** Sets or unsets the attribute of an entry (`:name: value`). `more` gives continuation lines. */
export function takeEntry(
  attributes: Attributes,
  line: string,
  more: () => string | undefined,
): void {
  const [, before, written = "", after, first = ""] = entry.exec(line) ?? [];
  const name = written.toLowerCase();
  const parts = [first];
  // A value goes on below a backslash, in older documents below a plus sign.
  const sign = /(?<= )[\\+]$/.exec(first)?.[0] ?? "\\";
  for (let last = first; last.endsWith(` ${sign}`);) {
    parts[parts.length - 1] = last.slice(0, -2).trimEnd();
    last = more()?.trim() ?? "";
    parts.push(last);
  }
  if (before !== "" || after !== "") return void attributes.values.delete(name);
  const joined = parts.join(" ").replace(/^pass:[a-z,]*\[(.*)\]$/, "$1");
  attributes.values.set(name, substitute(attributes, joined));
}
