// The manual page, made of the help texts: `npm run docs` writes docs/knowctl.1 with it.

const special = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
  '"': "\\(dq",
};

/** Text as roff shows it again, whatever it begins with. */
function escape(text) {
  const safe = text
    .replace(/[\\\-'`^~"]/g, (character) => special[character])
    .replace(
      /[^\x20-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
  return safe.startsWith(".") ? `\\&${safe}` : safe;
}

const literal = (lines) => [".PP", ".nf", ...lines.map(escape), ".fi"];

/** Description, usage, and the titled sections of a help text, without the line that ends it. */
function partsOf(text) {
  const paragraphs = text.trimEnd().split("\n\n");
  const from = paragraphs.findIndex((each) => each.startsWith("Usage: "));
  const sections = paragraphs.slice(from + 1, -1).map((each) => {
    const [title, ...lines] = each.split("\n");
    return { title, lines };
  });
  const usage = paragraphs[from].replace(/^Usage: /, "").replaceAll(/\n +/g, " ");
  return { description: paragraphs.slice(0, from), usage, sections };
}

/** `  -x, --flag <v>  what it does` with its further lines, as term and text. */
function itemsOf(lines) {
  const items = [];
  for (const line of lines) {
    const [, term, text] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    if (term !== undefined) items.push([term, text ? [text] : []]);
    else if (line.trim() !== "") items.at(-1)[1].push(line.trim());
  }
  return items;
}

const list = (lines) =>
  itemsOf(lines).flatMap(([term, text]) => [
    ".TP",
    `\\fB${escape(term)}\\fR`,
    text.length === 0 ? "\\&" : escape(text.join(" ")),
  ]);

const isTable = (paragraph) => /\S {3,}\S/.test(paragraph);

const prose = (paragraphs) =>
  paragraphs.flatMap((each) =>
    isTable(each) ? literal(each.split("\n")) : [".PP", ...each.split("\n").map(escape)],
  );

function section({ title, lines }) {
  const content = title === "Examples:" ? literal(lines).slice(1) : list(lines);
  return [".PP", `.B ${escape(title)}`, ...content];
}

function commandSection(path, text) {
  const { description, usage, sections } = partsOf(text);
  return [
    `.SS ${escape(`knowctl ${path}`)}`,
    `.B ${escape(usage)}`,
    ...prose(description),
    ...sections.flatMap(section),
  ];
}

/** A topic: paragraphs, and titled lists. */
const topic = (text) =>
  text
    .trimEnd()
    .split("\n\n")
    .flatMap((each) => {
      const [title, ...lines] = each.split("\n");
      return /^\S.*:$/.test(title) ? section({ title, lines }) : prose([each]);
    });

/**
 * The manual page in roff, of the help texts by command path (`""` is the program's own), the
 * texts of the topics, and the version.
 */
export function manualPage(helpTexts, topicTexts, version) {
  const main = partsOf(helpTexts[""]);
  const commands = Object.entries(helpTexts).filter(([path]) => path !== "");
  const summary = main.description.join(" ");
  const isGroupOfCommands = ({ lines }) => !lines.some((line) => line.includes("--"));
  const examples = main.sections.find(({ title }) => title === "Examples:");
  const lines = [
    '.\\" Generated from the program by npm run docs.',
    `.TH KNOWCTL 1 "" "knowctl ${version}" "User Commands"`,
    ".SH NAME",
    `knowctl \\- ${escape(`${summary[0].toLowerCase()}${summary.slice(1).replace(/\.$/, "")}`)}`,
    ".SH SYNOPSIS",
    `.B ${escape(main.usage)}`,
    ".SH EXAMPLES",
    ...literal(examples.lines).slice(1),
    ".SH OVERVIEW",
    ...main.sections
      .filter((each) => each !== examples && isGroupOfCommands(each))
      .flatMap(section),
    ".SH COMMANDS",
    ...commands.flatMap(([path, text]) => commandSection(path, text)),
    ...Object.entries(topicTexts).flatMap(([name, text]) => [
      `.SH ${escape(name.replaceAll("-", " ").toUpperCase())}`,
      ...topic(text),
    ]),
  ];
  // A heading begins a paragraph itself; mandoc warns of a second beginning.
  const needed = lines.filter((line, at) => line !== ".PP" || !/^\.S[HS] /.test(lines[at - 1]));
  return `${needed.join("\n")}\n`;
}
