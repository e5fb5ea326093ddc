import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { CliError, codeOf, fileProblem } from "../errors.ts";
import {
  parseCodeOwners,
  type CodeOwner,
  type CodeOwners,
  type OwnerRule,
} from "./parse-code-owners.ts";
import { matchesPath } from "./path-pattern.ts";

/** GitHub's order, then the place that only GitLab uses; the first existing file counts. */
const places = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];

/** GitHub ignores a larger file: docs.github.com, "About code owners". */
const maxBytes = 3 * 1024 * 1024;

async function readCodeOwnersFile(top: string, file: string): Promise<string | undefined> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new CliError("usage", `${file}: ${why}`, { cause });
  };
  try {
    const real = await realpath(join(top, file));
    if (!real.startsWith(top.endsWith(sep) ? top : top + sep)) {
      return refuse("a link that leaves the repository");
    }
    // Without O_NONBLOCK, opening a named pipe would block the run.
    const handle = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return refuse("is not a file");
      if (stats.size > maxBytes) return refuse("is larger than 3 MiB");
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return refuse(`cannot be read: ${fileProblem(code)}`, error);
  }
}

/**
 * Finds and parses the CODEOWNERS file of a repository, or of a folder outside git.
 * `top` is a real path; `prefix` is the path from `top` to the project root.
 * Returns undefined when there is no file. Throws CliError `usage` when the file cannot
 * be read, is larger than 3 MiB, or is a link that leaves the repository.
 */
export async function findCodeOwners(place: {
  top: string;
  prefix: string;
}): Promise<CodeOwners | undefined> {
  for (const file of places) {
    const text = await readCodeOwnersFile(place.top, file);
    if (text !== undefined) return parseCodeOwners(text, { file, prefix: place.prefix });
  }
  return undefined;
}

/** The rules of a section, the last rule first. */
interface SectionIndex {
  /** Rules by the folder that a path must begin with; most rules name one. */
  byStart: Map<string, OwnerRule[]>;
  /** Rules without a fixed start: any path may match. */
  general: OwnerRule[];
  exclusions: OwnerRule[];
}

// Each thread builds its own index: only the parsed form is sent between threads.
const indexes = new WeakMap<CodeOwners, SectionIndex[]>();

function startOf(rule: OwnerRule): string {
  const { steps } = rule.pattern;
  const end = steps.findIndex((step) => /[*?\\]/.test(step));
  return (end < 0 ? steps : steps.slice(0, end)).join("/");
}

function indexOf(codeOwners: CodeOwners): SectionIndex[] {
  const known = indexes.get(codeOwners);
  if (known) return known;
  const built = codeOwners.sections.map(({ rules }) => {
    const index: SectionIndex = { byStart: new Map(), general: [], exclusions: [] };
    for (const rule of rules.toReversed()) {
      const start = startOf(rule);
      const same = index.byStart.get(start);
      if (rule.isExclusion) index.exclusions.push(rule);
      else if (start === "") index.general.push(rule);
      else if (same) same.push(rule);
      else index.byStart.set(start, [rule]);
    }
    return index;
  });
  indexes.set(codeOwners, built);
  return built;
}

function lastMatch(index: SectionIndex, path: string): OwnerRule | undefined {
  const steps = path.split("/");
  const matches = (rule: OwnerRule): boolean => matchesPath(rule.pattern, steps);
  if (index.exclusions.some(matches)) return undefined;
  let last: OwnerRule | undefined;
  const look = (rules: readonly OwnerRule[] | undefined): void => {
    for (const rule of rules ?? []) {
      if (last && rule.line < last.line) return;
      if (matches(rule)) last = rule;
    }
  };
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    look(index.byStart.get(path.slice(0, end)));
  }
  look(index.byStart.get(path));
  look(index.general);
  return last;
}

/**
 * Owners of a file (path relative to the project root, "/", NFC). The last matching
 * line counts; on GitLab, the last matching line of each section. Empty when no line
 * matches, or when that line names no owner. Case-sensitive, like git.
 */
export function ownersOf(codeOwners: CodeOwners, path: string): CodeOwner[] {
  const owners = new Map<string, CodeOwner>();
  for (const index of indexOf(codeOwners)) {
    for (const owner of lastMatch(index, codeOwners.prefix + path)?.owners ?? []) {
      owners.set(owner.email ?? owner.display_name ?? "", owner);
    }
  }
  return [...owners.values()];
}
