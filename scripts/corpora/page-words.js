// Reads the plain words of a page without the tool: by a few patterns, not by its grammar.

const kept = "title|label|description|text|alt|v|caption|summary|header|heading|name";

/** Without the parts that `pattern` matches; a blank takes their place. */
const without = (text, ...patterns) =>
  patterns.reduce((rest, pattern) => rest.replace(pattern, " "), text);

function quotedValues(attributes, names) {
  const pattern = new RegExp(
    `(?:^|[\\s{])(?:${names})\\s*=\\s*\\{?\\s*(?:"([^"]*)"|'([^']*)')`,
    "gi",
  );
  return [...attributes.matchAll(pattern)].map(([, one, other]) => one ?? other).join(" ");
}

const importLine = /^import\s+(?:[\w$*{][^;"'`]*?\sfrom\s+)?["'][^"'\n]*["'];?[ \t]*$/gm;
const frontMatter = /^\uFEFF?(?:---\n[^]*?\n---[ \t]*(?:\n|$)|\+\+\+\n[^]*?\n\+\+\+[ \t]*(?:\n|$))/;

/** Text of prose, without the code in it. */
function markdownProse(text, isMdx) {
  let rest = without(text, /<!--[^]*?-->/g, /<br\s*\/?>/gi, /<(script|style)\b[^]*?<\/\1>/gi);
  // Docusaurus reads imports in Markdown, too.
  rest = without(rest, importLine);
  if (isMdx) {
    rest = without(
      rest,
      /^export\s+(?:const|default|function|let)\b[^]*?(?:\n\n|$(?![^]))/gm,
      /\{\/\*[^]*?\*\/\}/g,
    );
  }
  return without(
    rest
      .replace(
        /\{\{[<%]\/?\s*\/?[\w./-]*([^]*?)\/?\s*[>%]\}\}/g,
        (_, inner) => ` ${quotedValues(inner, kept)} `,
      )
      .replace(
        /<\/?([A-Za-z][\w.:-]*)((?:[^<>{}"']|"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})*)>/g,
        // The name of an icon is no text.
        (_, tag, attributes) =>
          tag === "Icon" ? " " : ` ${quotedValues(attributes, isMdx ? kept : "alt|title")} `,
      )
      // Files that DocFX, Obsidian and FastAPI's pages include; other names of notes.
      .replace(/\[!INCLUDE ?\[[^\]]*\]\([^)]*\)\]|!\[\[[^\]]*\]\]|^\{\*.*\*\}/gim, " ")
      .replace(/\[\[[^[\]|]*\|([^[\]]*)\]\]/g, " $1 ")
      .replace(/!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\((?:[^()]|\([^()]*\))*\)/g, " $1 ")
      .replace(/!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\[[^[\]]*\]/g, " $1 "),
    /^ {0,3}\[[^\]^]+\]:\s.*$/gm,
    /\{[:#.][^{}\n]*\}|\{ ?(?:[.#]|[\w-]+=)[^{}\n]*\}/g,
    /^[ \t]*(?:--8<--|;--8<--).*$/gm,
    // Blocks of PyMdown: `/// note | Title`.
    /^[ \t]*\/{3,}[ \t]*[\w-]*/gm,
    isMdx ? /\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g : /\{%[^]*?%\}/g,
    /<?https?:\/\/[^\s>)]+>?/g,
  ).replace(/&(?:[a-z]+|#\d+|#x[\da-f]+);/gi, " ");
}

function markdownText(text, isMdx) {
  const parts = text
    .replace(frontMatter, "")
    .split(/^([ \t>]*(?:[-*+] |\d+\. )?(`{3,}|~{3,}).*\n[^]*?^[ \t>]*\2[`~]*[ \t]*)$/m);
  // split() gives prose, fence, marks, prose, …
  const prose = parts.filter((_, index) => index % 3 === 0).join("\n\n");
  const codes = parts
    .filter((_, index) => index % 3 === 1)
    .map((fence) => fence.replace(/^.*\n/, ""));
  const spans = [];
  const bare = prose.replace(/(`+)(?!`)([^]*?[^`])\1(?!`)/g, (_, _marks, code) => {
    spans.push(code);
    return " ";
  });
  return [markdownProse(bare, isMdx), ...codes, ...spans].join(" ");
}

function asciidocText(text) {
  return without(
    text.replace(/^\/{4,}\n[^]*?^\/{4,}$/gm, "").replace(frontMatter, ""),
    /^\/\/(?!\/).*$/gm,
    /^:!?[\w-]+!?:.*(?:\\\n.*)*$/gm,
    /^(?:ifdef|ifndef|ifeval|endif|include|toc)::.*$/gm,
    /^\[.*\][ \t]*$/gm,
    /\[\[[^\]]*\]\]/g,
    // The window of a link.
    /,\s*window="?_blank"?/g,
    // A role of the text that follows.
    /\[[\w.#% -]+\](?=[#*_`])/g,
  )
    .replace(
      /(?:xref|link|mailto|image|icon|kbd|btn|menu|footnote|https?|pass|anchor):{1,2}[^\s[\]]*\[([^\]]*)\]/g,
      " $1 ",
    )
    .replace(/<<[^,<>]*,([^<>]*)>>/g, " $1 ")
    .replace(/<<[^<>]*>>|\bhttps?:\/\/\S+|^\.(?=\S)|<\d+>|<\.>/gm, " ")
    .replace(/^[\w|.<^>]*\||\{[\w:-]+\}/gm, " ");
}

function htmlText(text) {
  const main = /<(?:main|div[^>]*role="main")[^]*<\/(?:main|div)>/i.exec(text)?.[0] ?? text;
  return without(
    main,
    /<!--[^]*?-->/g,
    /<(script|style|nav|header|footer|head)\b[^]*?<\/\1>/gi,
    /<[^>]*>/g,
    /&[a-z#\d]+;/gi,
  );
}

const plain = {
  md: (text) => markdownText(text, false),
  mdx: (text) => markdownText(text, true),
  rst: (text) =>
    without(text, /^\.\. .*$/gm, /^\s+:[\w-]+:.*$/gm, /<[^<>\n]*>`__?/g, /:[\w:+.-]+:(?=`)/g),
  adoc: asciidocText,
  html: htmlText,
  txt: (text) => text,
};

/** The words of a text of a format (`md`, `mdx`, `rst`, `adoc`, `html`, `txt`), as a page shows them. */
export function plainText(text, format) {
  return plain[format](text.replace(/\r\n?/g, "\n"));
}

/** How often each word occurs. A word is a run of letters and digits, in lower case. */
export function countWords(text) {
  const counts = new Map();
  for (const [word] of text
    .normalize("NFKC")
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** The words of `page` that `sent` lacks, each as often as it lacks it. */
export function lostWords(page, sent) {
  return [...page].flatMap(([word, count]) => {
    const missing = count - (sent.get(word) ?? 0);
    return missing > 0 ? Array(missing).fill(word) : [];
  });
}
