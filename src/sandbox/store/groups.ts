import type { PairRecord } from "../../api/schemas.ts";
import type { Caller } from "./access.ts";

interface Group {
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

/** The seeded groups, and those that pairs or callers name. */
export function createGroups(
  pairs: readonly PairRecord[],
  callers: readonly (readonly number[])[],
) {
  const all = (): Group[] => {
    const groups = new Map(seeds.map((group) => [group.id, group]));
    for (const id of [...pairs.map((pair) => pair.groups ?? []), ...callers].flat()) {
      if (!groups.has(id)) groups.set(id, { id, name: `Group ${id}`, is_default: false });
    }
    return [...groups.values()];
  };
  /** The caller's own groups, without the default ones: a connector may have these (observed-service.md 12.7). */
  const visibleTo = ({ groups }: Caller): Group[] =>
    all().filter(({ id, is_default }) => !is_default && groups.includes(id));
  return {
    all,
    visibleTo,
    /** Why a caller's connector cannot have these groups; undefined if it can. */
    problemWith(caller: Caller, ids: readonly number[]): string | undefined {
      const known = new Set(visibleTo(caller).map(({ id }) => id));
      const wrong = ids.filter((id) => !known.has(id));
      return wrong.length === 0
        ? undefined
        : `User groups cannot be assigned: [${wrong.join(", ")}]`;
    },
  };
}
