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

/** The parts of a help text by their headings; what stands above the first is under `""`. */
function partsOf(text) {
  const parts = { "": [] };
  let name = "";
  for (const line of text.trimEnd().split("\n")) {
    const [, heading, rest] = /^([A-Z][a-z]+(?: [a-z]+)?):(?: (.*))?$/.exec(line) ?? [];
    if (heading === undefined) parts[name].push(line);
    else {
      name = heading;
      parts[name] = rest === undefined ? [] : [rest];
      // What follows the usage is the description, not a part of it.
      if (heading === "Usage") name = "";
    }
  }
  return parts;
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

function prose(lines) {
  return lines
    .join("\n")
    .trim()
    .split("\n\n")
    .flatMap((paragraph) => [".PP", ...paragraph.split("\n").map((line) => escape(line.trim()))]);
}

function examples(lines = []) {
  return lines.length === 0 ? [] : [".PP", "Examples:", ...literal(lines.filter(Boolean))];
}

const isOwn = ([term]) => !/^(?:-h, )?--help\b/.test(term);

function commandSection(path, text) {
  const {
    Usage: usage = [],
    Arguments: given = [],
    Options: options = [],
    ...parts
  } = partsOf(text);
  const own = itemsOf(options).filter(isOwn);
  return [
    `.SS ${escape(`knowctl ${path}`)}`,
    `.B ${escape(usage.join(" "))}`,
    ...prose(parts[""]),
    ...list(given),
    ...(own.length === 0 ? [] : list(options).slice(0, own.length * 3)),
    ...examples(
      parts["Examples"]?.slice(
        0,
        parts["Examples"].findLastIndex((line) => line.startsWith("  ")) + 1,
      ),
    ),
  ];
}

/**
 * The manual page in roff, of the help texts by command path (`""` is the program's own)
 * and the version.
 */
export function manualPage(helpTexts, version) {
  const main = partsOf(helpTexts[""]);
  const commands = Object.entries(helpTexts).filter(([path]) => path !== "");
  const summary = main[""].join(" ").trim();
  const lines = [
    '.\\" Generated from the program by npm run docs.',
    `.TH KNOWCTL 1 "" "knowctl ${version}" "User Commands"`,
    ".SH NAME",
    `knowctl \\- ${escape(`${summary[0].toLowerCase()}${summary.slice(1).replace(/\.$/, "")}`)}`,
    ".SH SYNOPSIS",
    `.B ${escape(main["Usage"].join(" "))}`,
    ".SH DESCRIPTION",
    ...prose(main[""]).slice(1),
    ".PP",
    "What stands under GLOBAL OPTIONS may be given to every command.",
    ".SH GLOBAL OPTIONS",
    ...list(main["Options"]),
    ".SH COMMANDS",
    ...commands.flatMap(([path, text]) => commandSection(path, text)),
    ".SH EXIT STATUS",
    ...list(main["Exit codes"].map((line) => line.replace(/^( {2}\d+ +\S+) +/, "$1: "))),
    ".SH ENVIRONMENT",
    ...list([
      "  KNOWCTL_API_KEY  key for ingestion; alone it serves listing and chat as well",
      "  KNOWCTL_ACCESS_TOKEN  key for listing and chat",
      "  KNOWCTL_TRUST_PROJECT  1 lets the project file name addresses and keys",
      "  KNOWCTL_...  each flag: --base-url is KNOWCTL_BASE_URL; a flag wins",
    ]),
    ".SH FILES",
    ...list([
      "  ~/.config/knowctl/config.json  profiles and settings of the user",
      "  .cliconfig.json  settings of a project, from the working directory up to the git root",
      "  .knowctl  record of what was sent, in the project root",
    ]),
    ".SH EXAMPLES",
    ...literal(main["Examples"].filter(Boolean)).slice(1),
  ];
  return `${lines.join("\n")}\n`;
}
