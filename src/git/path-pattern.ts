/** A pattern of CODEOWNERS, cut into the steps of a path. Plain data. */
export interface PathPattern {
  /** `**` stands for any number of steps, at the end for at least one. */
  readonly steps: readonly string[];
  /** Whether it also names everything below what it matches. */
  readonly isFolderToo: boolean;
}

/**
 * Cuts a pattern as gitignore(5) reads it: with a slash before its end it counts
 * from the top, else at any depth; `anywhere` (GitLab) asks for a leading slash.
 * Unlike there, `docs/*` does not reach into folders below, and `[` is a plain
 * character: docs.github.com, "About code owners". Undefined for one that can name nothing.
 */
export function parsePathPattern(text: string, anywhere: boolean): PathPattern | undefined {
  const pattern = text.normalize("NFC");
  const steps = pattern.split("/").filter((step) => step !== "");
  if (steps.length === 0) return undefined;
  const isFolder = pattern.endsWith("/");
  const fromTop = pattern.startsWith("/") || (!anywhere && steps.length > 1);
  const last = steps[steps.length - 1];
  const all = [...(fromTop ? [] : ["**"]), ...steps, ...(isFolder ? ["**"] : [])];
  // `**/**` says no more than `**`.
  const short = all.filter((step, index) => step !== "**" || all[index - 1] !== "**");
  return { steps: short, isFolderToo: !isFolder && last !== "*" && last !== "**" };
}

/**
 * Whether a pattern of `*`, `?` and `\x` matches one step of a path. Only the
 * latest star is ever tried again, so the time is at most the product of the
 * lengths; a regular expression could take for ever.
 */
function matchesStep(pattern: string, step: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < step.length;) {
    const sign = pattern[at];
    const isPlain = sign === "\\" && at + 1 < pattern.length;
    if (sign === "*") {
      star = at++;
      resume = index;
    } else if (sign === "?" || (isPlain ? pattern[at + 1] : sign) === step[index]) {
      at += isPlain ? 2 : 1;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** Whether a pattern names a path, given as its steps, NFC. Time as in matchesStep(). */
export function matchesPath(pattern: PathPattern, path: readonly string[]): boolean {
  const { steps, isFolderToo } = pattern;
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < path.length;) {
    const step = steps[at];
    if (step === "**") {
      if (at === steps.length - 1) return true;
      star = at++;
      resume = index;
    } else if (step === undefined && isFolderToo) {
      return true;
    } else if (step !== undefined && matchesStep(step, path[index] ?? "")) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  return at === steps.length;
}
