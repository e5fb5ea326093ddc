/** More levels than any response has; far fewer than the call stack holds. */
const maxLevels = 500;

function goesBelow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (goesBelow(member, levels - 1)) return true;
  return false;
}

/**
 * Whether the value parsed from `json` is nested so deep that walking it would
 * exhaust the call stack. JSON.parse accepts any depth; the code after it does not.
 */
export function nestsTooDeep(value: unknown, json: string): boolean {
  // Each level needs two brackets: most texts are too short to nest too deep.
  return json.length > 2 * maxLevels && goesBelow(value, maxLevels);
}
