import type { PairRecord } from "../../api/schemas.ts";
import type { Caller } from "./access.ts";

export interface Group {
  id: number;
  name: string;
  /** Made by the service itself: no connector may be shared with it. */
  is_default: boolean;
}

/** The groups of a fresh workspace, then those of the seeded pairs. */
const seeds: readonly Group[] = [
  { id: 1, name: "Admin", is_default: true },
  { id: 2, name: "Basic", is_default: true },
  { id: 3, name: "People", is_default: false },
  { id: 4, name: "Platform", is_default: false },
  { id: 5, name: "Sales", is_default: false },
  { id: 7, name: "Support", is_default: false },
  { id: 12, name: "Engineering", is_default: false },
];

export interface Groups {
  all(): Group[];
  /** The caller's own groups, without the default ones: a connector may have these (observed-service.md 12.7). */
  visibleTo(caller: Caller): Group[];
  /** Why a caller's connector cannot have these groups; undefined if it can. */
  problemWith(caller: Caller, ids: readonly number[]): string | undefined;
}

/** The seeded groups, and those that pairs or callers name. */
export function createGroups(
  pairs: readonly PairRecord[],
  callers: readonly (readonly number[])[],
): Groups {
  const all = (): Group[] => {
    const groups = new Map(seeds.map((group) => [group.id, group]));
    for (const id of [...pairs.map((pair) => pair.groups ?? []), ...callers].flat()) {
      if (!groups.has(id)) groups.set(id, { id, name: `Group ${id}`, is_default: false });
    }
    return [...groups.values()];
  };
  const visibleTo = ({ groups }: Caller): Group[] =>
    all().filter(({ id, is_default }) => !is_default && groups.includes(id));
  return {
    all,
    visibleTo,
    problemWith(caller, ids) {
      const known = new Set(visibleTo(caller).map(({ id }) => id));
      const wrong = ids.filter((id) => !known.has(id));
      if (wrong.length === 0) return undefined;
      return `User groups cannot be assigned: [${wrong.join(", ")}]`;
    },
  };
}
