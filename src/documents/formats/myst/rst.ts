import { boxLabels } from "../directives.ts";

const directive = /^( *)\.\. ([\w:+.-]*\w)::[ \t]*(.*)$/;
const explicit = /^( *)\.\.(?: |$)(.*)$/;
const label = /^_`?([^:`]+)`?:[ \t]*(\S*)/;

const role = /(?<![\w`]):([A-Za-z][\w:+.-]{0,60}):(?=`[^`])/g;
const link = /`([^`<>]{1,200}?)[ \t\n]*<([^<>`\s]{1,1000})>`__?/g;

/** Roles and links of reStructuredText as MyST has them. Literals are code in both. */
const inlineOf = (line: string): string =>
  line.includes("`") ? line.replace(link, "[$1]($2)").replace(role, "{$1}") : line;

const indentOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0;

/** The index after the lines that are indented by more than `indent`. */
function endOf(lines: readonly string[], from: number, indent: number): number {
  let end = from;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.trim() === "") continue;
    if (indentOf(line) <= indent) break;
    end = at + 1;
  }
  return end;
}

function dedented(lines: readonly string[]): string[] {
  const filled = lines.filter((line) => line.trim() !== "");
  const least = Math.min(...filled.map(indentOf));
  return lines.map((line) => line.slice(Math.min(least, line.length)));
}

const deepest = 12;

/**
 * The reStructuredText in Markdown as MyST: directives, roles, links and labels. Other marks of both
 * are alike or stay. MyST-Parser, "eval-rst".
 */
export function asMyst(lines: readonly string[], depth = 0): string[] {
  const done: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const [, blanks = "", name, argument = ""] = directive.exec(line) ?? [];
    const [, indent = blanks, rest = ""] = name === undefined ? (explicit.exec(line) ?? []) : [];
    if (name === undefined && !explicit.test(line)) {
      done.push(inlineOf(line));
      at++;
      continue;
    }
    const end = endOf(lines, at + 1, indent.length);
    const body = dedented(lines.slice(at + 1, end));
    const [, target, address] = label.exec(rest) ?? [];
    if (name !== undefined) {
      const marks = ":".repeat(40 - depth);
      const isText = depth < deepest && !/^(?:code|literal|parsed|math|raw|prompt)/.test(name);
      const content = isText ? asMyst(body, depth + 1) : body;
      const text = inlineOf(argument);
      // The first line of a box is text here, and its title in mystmd.
      const head = Object.hasOwn(boxLabels, name) && text !== "" ? ["", text] : [` ${text}`];
      done.push(`${marks}{${name}}${head[0]}`.trimEnd(), ...head.slice(1), ...content, marks, "");
    } else if (target !== undefined && address === "") done.push(`(${target})=`);
    at = Math.max(end, at + 1);
  }
  return done;
}
