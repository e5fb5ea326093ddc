/** More levels than any answer has; far fewer than the call stack holds. */
const mostLevels = 500;

function goesBelow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (goesBelow(member, levels - 1)) return true;
  return false;
}

/**
 * Whether what was parsed from `json` is nested so deep that walking it would
 * exhaust the call stack. JSON.parse takes any depth; all that follows does not.
 */
export function nestsTooDeep(value: unknown, json: string): boolean {
  // Each level takes two brackets: most texts are too short to look into.
  return json.length > 2 * mostLevels && goesBelow(value, mostLevels);
}
