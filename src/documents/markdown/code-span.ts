/** Code as Markdown, with more backticks around it than in it. */
export function codeSpan(code: string, isPlain = false): string {
  if (isPlain || code.trim() === "") return code;
  if (!code.includes("`")) return `\`${code}\``;
  let longest = 1;
  for (const run of code.matchAll(/`+/g)) longest = Math.max(longest, run[0].length);
  const marks = "`".repeat(longest + 1);
  return `${marks} ${code} ${marks}`;
}
