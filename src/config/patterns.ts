import { CliError } from "../errors.ts";
import type { Path } from "./file/nodes.ts";
import type { ParsedFile } from "./file/parse.ts";
import { whereIs } from "./file/problems.ts";

const mostAlternatives = 256;

// Expands `{a,b}` as the matcher does; undefined for too many alternatives.
function expandBraces(pattern: string): string[] | undefined {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    if (open.length + done.length > mostAlternatives) return undefined;
    const next: string[] = [];
    for (const each of open) {
      const group = /\{([^{}]*)\}/.exec(each);
      if (!group) done.push(each);
      else {
        const before = each.slice(0, group.index);
        const after = each.slice(group.index + group[0].length);
        for (const part of (group[1] ?? "").split(",")) next.push(before + part + after);
      }
    }
    open = next;
  }
  return done;
}

/** Whether a glob can only match below the folder it is used in. */
export function staysInside(pattern: string): boolean {
  const expanded = expandBraces(pattern);
  if (!expanded) return false;
  return expanded.every((each) => {
    if (/^!*(?:[@+?*!]?\()*(?:[/\\~]|[A-Za-z]:)/.test(each)) return false;
    // Extended globs `@(…)`, classes `[.]` and escapes could spell `..` as well.
    const plain = each.replace(/[!()|@+?*[\]]/g, "");
    const segments = [...plain.split(/[/\\]/), ...plain.replaceAll("\\", "").split("/")];
    return !segments.includes("..");
  });
}

/** Throws CliError `not-configured` when a pattern of an untrusted file leads out of the project. */
export function checkPatterns(file: ParsedFile): void {
  const { include = [], exclude = [], rules = [] } = file.content.ingest ?? {};
  const patterns: [Path, string][] = [
    ...include.map((each, index): [Path, string] => [["ingest", "include", index], each]),
    ...exclude.map((each, index): [Path, string] => [["ingest", "exclude", index], each]),
    ...rules.map((each, index): [Path, string] => [
      ["ingest", "rules", index, "match"],
      each.match,
    ]),
  ];
  for (const [path, pattern] of patterns) {
    if (staysInside(pattern)) continue;
    throw new CliError(
      "not-configured",
      `${whereIs(file, [...file.prefix, ...path])}: the pattern "${pattern}" leads out of the project, and this file is not trusted`,
      {
        hints: [
          "write it relative to the project without ..",
          "or trust the file: knowctl config trust",
        ],
      },
    );
  }
}
