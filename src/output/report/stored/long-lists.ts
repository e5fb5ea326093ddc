import type * as z from "zod/mini";

/** Elements that are checked at once: each invalid one costs memory. */
const most = 1000;

type Members = Record<string, unknown>;
interface LongList {
  path: readonly string[];
  list: readonly unknown[];
}

/** The long lists among the members of an object, and of their members. */
function longListsOf(value: object, path: readonly string[] = []): LongList[] {
  const found: LongList[] = [];
  for (const [name, each] of Object.entries(value) as [string, unknown][]) {
    const at = [...path, name];
    if (Array.isArray(each)) {
      if (each.length > most) found.push({ path: at, list: each });
    } else if (path.length === 0 && typeof each === "object" && each !== null) {
      found.push(...longListsOf(each, at));
    }
  }
  return found;
}

function withList(value: Members, path: readonly string[], list: readonly unknown[]): Members {
  const [name = "", ...rest] = path;
  return {
    ...value,
    [name]: rest.length === 0 ? list : withList(value[name] as Members, rest, list),
  };
}

/** Objects of files of this program have far fewer members. */
const mostMembers = 10_000;

/**
 * The first thing that is wrong in the long lists of a value, which are checked in pieces: a list of
 * millions of invalid elements would fill the memory with what is wrong of each.
 */
export function firstInvalidIn(
  shape: z.ZodMiniType,
  value: unknown,
): { path: readonly PropertyKey[]; message: string } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return { path: [], message: "a list" };
  for (const each of [value, ...Object.values(value)]) {
    if (typeof each !== "object" || each === null || Array.isArray(each)) continue;
    if (Object.keys(each).length > mostMembers) return { path: [], message: "too many members" };
  }
  const lists = longListsOf(value);
  let rest = value as Members;
  for (const { path } of lists) rest = withList(rest, path, []);
  for (const { path, list } of lists) {
    for (let from = 0; from < list.length; from += most) {
      const result = shape.safeParse(withList(rest, path, list.slice(from, from + most)));
      const issue = result.error?.issues[0];
      if (!issue) continue;
      const isInList = path.every((name, index) => issue.path[index] === name);
      const at = issue.path[path.length];
      if (!isInList || typeof at !== "number") return issue;
      const after = issue.path.slice(path.length + 1);
      return { path: [...path, from + at, ...after], message: issue.message };
    }
  }
  return undefined;
}
