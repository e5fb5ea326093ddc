import { callTo } from "./call.ts";
import * as z from "zod/mini";
import type { Client } from "./client.ts";

const Me = z.looseObject({ is_anonymous_user: z.optional(z.nullable(z.boolean())) });

const Account = z.looseObject({ id: z.string(), email: z.optional(z.nullable(z.string())) });

/** The account of the access token. Undefined where the dialect has no endpoint. Throws ApiError. */
export async function findAccount(
  client: Client,
): Promise<{ id: string; email?: string | null | undefined } | undefined> {
  const path = client.dialect.paths.me;
  if (path === undefined) return undefined;
  return await client.call(callTo("read the account", "GET", path), Account);
}

const Groups = z.array(z.looseObject({ id: z.int() }));

/**
 * Ids of the groups that the access token sees: its own ones, and maybe others. Undefined where
 * the dialect has no endpoint. Throws ApiError: an edition without groups has no such route (404).
 */
export async function listGroups(client: Client): Promise<number[] | undefined> {
  const path = client.dialect.paths.groups;
  if (path === undefined) return undefined;
  const groups = await client.call(callTo("list groups", "GET", path), Groups);
  return groups.map(({ id }) => id);
}

/**
 * Whether the service treats the access token as anonymous: a service open to
 * everyone accepts a wrong token (observed-service.md 8). Undefined where the
 * dialect has no endpoint. One attempt of at most `withinMs`, which an abort does
 * not end. Throws ApiError.
 */
export async function isAnonymous(client: Client, withinMs: number): Promise<boolean | undefined> {
  const path = client.dialect.paths.me;
  if (path === undefined) return undefined;
  const call = callTo("read the account", "GET", path);
  const me = await client.call({ ...call, detachedMs: withinMs }, Me);
  return me.is_anonymous_user === true;
}
