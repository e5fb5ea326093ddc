/** A CODEOWNERS pattern, split at "/" into steps. Plain data. */
export interface PathPattern {
  /** `**` matches any number of steps; at the end, at least one. */
  readonly steps: readonly string[];
  /** Whether it also matches all paths below a matching folder. */
  readonly isFolderToo: boolean;
}

/**
 * Splits a pattern by the rules of gitignore(5): a slash before the end anchors it to the
 * top; otherwise it matches at any depth. With `anywhere` (GitLab) only a leading slash
 * anchors. Unlike in gitignore(5), `docs/*` does not match in subfolders, and `[` is a
 * plain character: docs.github.com, "About code owners". Undefined for a pattern that
 * can match nothing.
 */
export function parsePathPattern(text: string, anywhere: boolean): PathPattern | undefined {
  const pattern = text.normalize("NFC");
  const steps = pattern.split("/").filter((step) => step !== "");
  if (steps.length === 0) return undefined;
  const isFolder = pattern.endsWith("/");
  const fromTop = pattern.startsWith("/") || (!anywhere && steps.length > 1);
  const last = steps[steps.length - 1];
  const all = [...(fromTop ? [] : ["**"]), ...steps, ...(isFolder ? ["**"] : [])];
  // `**/**` equals `**`.
  const short = all.filter((step, index) => step !== "**" || all[index - 1] !== "**");
  return { steps: short, isFolderToo: !isFolder && last !== "*" && last !== "**" };
}

/**
 * Whether a pattern of `*`, `?` and `\x` matches one step of a path. Backtracks only to
 * the latest star, so time is at most the product of the lengths; a regular expression
 * could backtrack exponentially.
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

/** Whether a pattern matches a path (its steps, NFC). Same time bound as matchesStep(). */
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
