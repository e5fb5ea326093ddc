import * as z from "zod/mini";
import type { Client } from "./client.ts";

const Me = z.looseObject({ is_anonymous_user: z.optional(z.nullable(z.boolean())) });

/**
 * Whether the service treats the access token as anonymous: a service open to
 * everyone accepts a wrong token (observed-service.md 8). Undefined where the
 * dialect has no endpoint. One attempt of at most `withinMs`, which an abort does
 * not end. Throws ApiError.
 */
export async function isAnonymous(client: Client, withinMs: number): Promise<boolean | undefined> {
  const path = client.dialect.paths.me;
  if (path === undefined) return undefined;
  const me = await client.call(
    {
      what: "read the account",
      policy: "list",
      method: "GET",
      path,
      key: "accessToken",
      detachedMs: withinMs,
    },
    Me,
  );
  return me.is_anonymous_user === true;
}
