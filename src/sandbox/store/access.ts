import type { PairRecord } from "../../api/schemas.ts";

/** Who sent a request. */
export interface Caller {
  /** Its account owns the pairs whose credential it made. */
  id: string;
  email: string;
  /** Whether it may use the administrators' endpoints. It reads no more documents for that. */
  admin: boolean;
  anonymous: boolean;
  groups: readonly number[];
  /** A personal token with scopes narrows the rights of its account; undefined: all of them. */
  scopes?: readonly string[];
}

export const adminCaller: Caller = {
  id: "5f0c9a6e-3c63-4f0e-9b0f-2a5f1d6f6c11",
  email: "admin@example.com",
  admin: true,
  anonymous: false,
  // Group 1 is the default one of administrators.
  groups: [1, 3, 4],
};

export const anonymousCaller: Caller = {
  id: "00000000-0000-0000-0000-000000000000",
  email: "anonymous@example.com",
  admin: false,
  anonymous: true,
  groups: [],
};

/** A caller that reads documents and administers nothing. */
export function readerCaller(groups: readonly number[] = []): Caller {
  const id = "0b7c2a51-9d0e-4b8f-8c63-1f5a7e24d902";
  return { id, email: "reader@example.com", admin: false, anonymous: false, groups };
}

/** The administrator, through a personal token with scopes. */
export const scopedCaller = (scopes: readonly string[]): Caller => ({ ...adminCaller, scopes });

/** The hidden default pair. It is not listed and readable by all who signed in. */
const defaultPair = 1;

/** observed-service.md 11.1: an administrator has no bypass. */
function mayRead(pair: PairRecord, caller: Caller): boolean {
  if (pair.access_type === "public") return true;
  if (pair.access_type !== "private") return false;
  const isOwner = !caller.anonymous && pair.credential.user_id === caller.id;
  return isOwner || (pair.groups ?? []).some((group) => caller.groups.includes(group));
}

/** Returns the ids of the pairs whose documents a caller may read. Pairs may be added later. */
export function createAccess(
  records: readonly PairRecord[],
): (caller: Caller) => ReadonlySet<number> {
  const known = new Map<Caller, { count: number; pairs: ReadonlySet<number> }>();
  return (caller) => {
    const last = known.get(caller);
    if (last?.count === records.length) return last.pairs;
    const readable = records.filter((pair) => mayRead(pair, caller));
    const pairs = new Set(readable.map((pair) => pair.cc_pair_id));
    if (!caller.anonymous) pairs.add(defaultPair);
    known.set(caller, { count: records.length, pairs });
    return pairs;
  };
}

/** A private pair of somebody else; 0, which no caller reads, where none is listed. */
export function foreignPrivatePair(records: readonly PairRecord[]): number {
  const foreign = records.find(
    (pair) => pair.access_type === "private" && !mayRead(pair, adminCaller),
  );
  return foreign?.cc_pair_id ?? 0;
}

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
