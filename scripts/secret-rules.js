import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectFolder } from "./install.js";

// Writes src/checks/lint/secrets/pack.json from the rules of gitleaks (MIT):
//   node scripts/secret-rules.js path/to/gitleaks/config/gitleaks.toml && npx oxfmt
// The file's commit stands in `source`; change it when you take another version.

const source = {
  name: "gitleaks",
  commit: "b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b",
  file: "config/gitleaks.toml",
};

// Rules that are left out, by reason.
const leftOut = {
  "not a secret: public keys and identifiers": `adobe-client-id asana-client-id bitbucket-client-id
    discord-client-id flutterwave-public-key linkedin-client-id lob-pub-api-key looker-client-id
    mailgun-pub-key mapbox-api-token messagebird-client-id new-relic-browser-api-token
    new-relic-user-api-id plaid-client-id sendbird-access-id sumologic-access-id`,
  "for files that are no documents": `freemius-secret-key hashicorp-tf-password
    kubernetes-secret-yaml nuget-config-password pkcs12-file`,
  "too short: ordinary words match": `confluent-access-token dropbox-api-token
    linkedin-client-secret airtable-api-key`,
  "another rule finds it": `generic-api-key jwt-base64 private-key sidekiq-sensitive-url
    slack-legacy-bot-token gitlab-pat-routable gitlab-runner-authentication-token-routable`,
  "documentation shows it with made-up values": "curl-auth-header curl-auth-user",
  "needs more than a window around a value": "facebook-access-token sidekiq-secret",
};
const left = new Set(Object.values(leftOut).flatMap((each) => each.split(/\s+/)));

// Keywords that make a better filter than those of the original.
const betterKeywords = {
  "airtable-personnal-access-token": ["pat"],
  "sourcegraph-access-token": ["sgp_"],
  "twilio-api-key": ["sk"],
  "cloudflare-origin-ca-key": ["v1.0-"],
  "intra42-client-secret": ["s-s4t2"],
};
// A fixed part of values that scanners of hosting sites refuse to store.
const marks = /^AIza(?:Sy)?/;

/** Reads the part of TOML that the file consists of: tables, strings, numbers, arrays. */
function parseToml(text) {
  const token =
    /\s+|#.*|'''([^]*?)'''|"((?:[^"\\]|\\.)*)"|\[\[([\w.]+)\]\]|\[([A-Za-z]\w*)\]|([A-Za-z]\w*)\s*=|(\d[\d.]*)|([[\],])/y;
  const root = {};
  let table = root;
  let key = "";
  let list;
  const put = (value) => (list ? list.push(value) : (table[key] = value));
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (!found) throw new Error(`cannot read the file at offset ${at}`);
    const [, raw, quoted, tables, single, name, number, sign] = found;
    if (raw !== undefined) put(raw);
    else if (quoted !== undefined) put(JSON.parse(`"${quoted}"`));
    else if (number !== undefined) put(Number(number));
    else if (single !== undefined) table = root[single] = {};
    else if (name !== undefined) key = name;
    else if (sign === "[") list = table[key] = [];
    else if (sign === "]") list = undefined;
    else if (tables !== undefined) {
      const names = tables.split(".");
      const last = names.pop();
      const parent = names.reduce((node, each) => node[each].at(-1), root);
      (parent[last] ??= []).push((table = {}));
    }
  }
  return root;
}

const posix = { alnum: "a-zA-Z0-9", alpha: "a-zA-Z", digit: "0-9", xdigit: "a-fA-F0-9" };

/** A letter or a range of letters in both cases; anything else as it is. */
function bothCases(text) {
  if (!/^[a-zA-Z](?:-[a-zA-Z])?$/.test(text)) return text;
  const isLower = text === text.toLowerCase();
  return text + (isLower ? text.toUpperCase() : text.toLowerCase());
}

/** A class of characters, from `[` to `]`, for both cases if `ignoresCase`. */
function classOf(text, ignoresCase) {
  const inner = text.slice(1, -1).replace(/\[:(\w+):\]/g, (_, name) => posix[name]);
  if (!ignoresCase) return `[${inner}]`;
  // Ranges and letters one by one: an escape keeps its case.
  const parts = inner.match(/\\x[0-9a-f]{2}|\\.|[a-zA-Z]-[a-zA-Z]|[^]-[^\]]|[^]/g) ?? [];
  return `[${parts.map(bothCases).join("")}]`;
}

/**
 * Turns an expression of RE2 into one of JavaScript: flags inside it become classes with both cases,
 * because Node 20 has no flags for a part of an expression.
 */
function toJavaScript(pattern) {
  const part =
    /\\x[0-9a-f]{2}|\\z|\\.|\[\^?(?:\[:\w+:\]|\\.|[^\]\\])+\]|\(\?P<\w+>|\(\?([a-z-]+)([:)])|\(\??[:=!]?|\)|\{[\d,]+\}|[^]/gy;
  const flagsOf = (outer, text) => {
    const [on, off = ""] = text.split("-");
    return {
      i: on.includes("i") || (outer.i && !off.includes("i")),
      s: on.includes("s") || (outer.s && !off.includes("s")),
    };
  };
  const groups = [{ i: false, s: false }];
  let result = "";
  for (const [text, flags, end] of pattern.matchAll(part)) {
    const current = groups.at(-1);
    if (flags !== undefined && end === ")") groups[groups.length - 1] = flagsOf(current, flags);
    else if (flags !== undefined) {
      groups.push(flagsOf(current, flags));
      result += "(?:";
    } else if (text.startsWith("(")) {
      groups.push({ ...current });
      result += text.startsWith("(?P") ? "(?:" : text;
    } else if (text === ")") {
      groups.pop();
      result += text;
    } else if (text === "\\z" || text === "$") result += "(?![^])";
    else if (text === "." && current.s) result += "[^]";
    else if (text.startsWith("[")) result += classOf(text, current.i);
    else if (current.i && /^[a-zA-Z]$/.test(text)) result += `[${bothCases(text)}]`;
    else result += text;
  }
  return result;
}

const ahead = String.raw`[\w.-]{0,50}?`;
const open = String.raw`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`;
const between = String.raw`(?:[ \t\w.-]{0,20})[\s'"]{0,3}`;
const behind = String.raw`(?:[\x60'"\s;]|\\[nr]|$)`;
// In prose a period, a bracket or a cell's border may follow a value as well.
const boundary = String.raw`(?![\w-])`;

/** An expression and its flags: `i` if all of it ignores case. */
function expressionOf(regex) {
  const ignoresCase = regex.startsWith("(?i)") && !/\(\?[a-z-]+[:)]/.test(regex.slice(4));
  return ignoresCase
    ? { pattern: toJavaScript(regex.slice(4)), flags: "i" }
    : { pattern: toJavaScript(regex) };
}

/** "NAME = VALUE": the names and the value of a rule of this form; undefined for other rules. */
function assignmentOf(regex) {
  const bare = regex.replaceAll(ahead, "");
  const [names, value, ...more] = bare
    .replace(`${between})${open}`, between + open)
    .split(between + open);
  if (value === undefined || more.length > 0 || bare.includes("|\\b")) {
    return undefined;
  }
  const secret = value.slice(0, -behind.length);
  // A colon ends the run of characters that the search looks at.
  if (secret.includes("}:")) return undefined;
  return {
    // Case matters in no name.
    names: names.replaceAll(/\(\?[i-]+\)|^\(\?i:/g, "").replaceAll(/\(\?-i:/g, "(?:"),
    ...expressionOf(bare.startsWith("(?i)") ? `(?i)${secret}` : secret),
  };
}

// Without the name of the service near it, it is any hash.
const bareHash = "|[a-fA-F0-9]{40})\\b)";

function convert(rule) {
  const { id, entropy, keywords, secretGroup, allowlists = [] } = rule;
  const regex = rule.regex.replace(bareHash, ")\\b)");
  const regexes = allowlists.flatMap((each) => each.regexes ?? []);
  const rest = {
    ...(entropy === undefined ? {} : { entropy }),
    ...(secretGroup === undefined ? {} : { group: secretGroup }),
    ...(regexes.length === 0
      ? {}
      : { allow: regexes.map((each) => toJavaScript(each.replace(marks, ""))) }),
  };
  const assignment = assignmentOf(regex);
  if (assignment) return { id, ...assignment, ...rest };
  const bare = regex
    .replaceAll(ahead, "")
    .replaceAll(behind, boundary)
    .replaceAll(String.raw`(?:[\x60'"\s;]|\\[nr]|$|\b)`, boundary)
    .replaceAll(String.raw`[\s'"]{0,3}`, String.raw`[\s'"\\]{0,4}`)
    .replaceAll(String.raw`[\x60'"\s=]{0,5}`, String.raw`[\x60'"\s=\\]{0,5}`)
    // The border of a cell of a table.
    .replaceAll(String.raw`|\|\||`, String.raw`|\|{1,2}|`)
    // The first group is the secret.
    .replaceAll(/\((\[[^\]]+\]\{\d+\}-\)\{)/g, "(?:$1")
    .replaceAll(/\(\?:\[\^[^\]]+\]\|\\z\)/g, boundary);
  return { id, keywords: betterKeywords[id] ?? keywords, ...expressionOf(bare), ...rest };
}

/** The rules of a gitleaks.toml as the program uses them. */
function packOf(text) {
  const { rules } = parseToml(text);
  const rows = rules.filter(({ id }) => !left.has(id)).map(convert);
  const generic = rules.find(({ id }) => id === "generic-api-key");
  const [, ofMatches] = generic.allowlists;
  return {
    source,
    known: rows.filter(({ keywords }) => keywords !== undefined),
    assigned: rows.filter(({ names }) => names !== undefined),
    generic: {
      otherNames: ofMatches.regexes[0]
        .replaceAll(/\(\?-?i\)|/g, "")
        .replaceAll("(?-i:", "(?:")
        .replaceAll("\\z", "$"),
      stopwords: ofMatches.stopwords.join(" "),
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , path] = process.argv;
  const pack = packOf(readFileSync(path, "utf8"));
  const target = join(projectFolder, "src/checks/lint/secrets/pack.json");
  writeFileSync(target, `${JSON.stringify(pack, undefined, 2)}\n`);
}
