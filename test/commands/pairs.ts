import type { PairRecord } from "../../src/api/schemas.ts";
import { main } from "../main.ts";
import type { TestService } from "../service.ts";
import { createTestContext } from "../support.ts";

export interface Pair {
  id: number;
  name?: string | null;
  source?: string;
  email?: string | null;
  updated?: string;
  access?: string;
  groups?: number[];
}

/** A record with secrets in every place that may hold one: each contains CANARY. */
export function pair({ id, name = `Pair ${id}`, source = "web", ...rest }: Pair): PairRecord {
  const times = {
    time_created: "2026-01-01T00:00:00Z",
    time_updated: rest.updated ?? "2026-01-02T00:00:00Z",
  };
  return {
    cc_pair_id: id,
    name,
    access_type: rest.access ?? "public",
    groups: rest.groups ?? [],
    connector: {
      id: id + 100,
      name: name ?? "",
      source,
      input_type: "poll",
      connector_specific_config: {
        wiki: `https://user:CANARY-config@wiki/${id}`,
        nested: { deep: "CANARY-deep" },
      },
      credential_ids: [id + 200],
      ...times,
      refresh_freq: null,
      prune_freq: null,
      indexing_start: null,
    },
    credential: {
      id: id + 200,
      name: null,
      source,
      credential_json: { token: "CANARY-token", nothing: null },
      admin_public: true,
      curator_public: false,
      user_id: null,
      user_email: rest.email ?? null,
      groups: [],
      // What a later release may add.
      private_key: "CANARY-member",
      oauth: { refresh: "CANARY-object" },
      ...times,
    },
  } as PairRecord;
}

/** Names that differ in case, a null name, a number as a name, hostile and wide characters. */
export const pairs = [
  pair({ id: 243, name: "Docs", email: "b@example.com", updated: "2026-03-01T00:00:00Z" }),
  pair({ id: 7, name: "docs", source: "confluence", access: "private", groups: [5, 6] }),
  pair({
    id: 9,
    name: null,
    source: "file",
    email: "A@example.com",
    updated: "2026-02-01T00:00:00Z",
  }),
  pair({ id: 11, name: "Docs archive", source: "web" }),
  pair({ id: 12, name: "42", source: "web" }),
  pair({ id: 13, name: "日本語 \u001b[31mred\u202e", source: "web", groups: [5] }),
];

export interface RunOptions {
  isTTY?: boolean;
  columns?: number;
  env?: Record<string, string>;
}

/** Runs one command line in this process against the service. */
export async function run(service: TestService, args: string[], options: RunOptions = {}) {
  const context = createTestContext({
    cwd: service.folder,
    ...options,
    env: { ...service.env, NO_COLOR: "1", ...options.env },
  });
  const code = await main(args, context);
  return { code, out: context.stdoutText(), err: context.stderrText() };
}
