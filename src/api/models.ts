import { callTo } from "./call.ts";
import * as z from "zod/mini";
import type { Client } from "./client.ts";

const name = z.optional(z.nullable(z.string()));
const Provider = z.looseObject({
  name,
  model_configurations: z.optional(z.nullable(z.array(z.looseObject({ name })))),
});
/** A list, or in newer releases an object that holds the list. */
const ProviderList = z.union([
  z.array(Provider),
  z.pipe(
    z.looseObject({ providers: z.array(Provider) }),
    z.transform(({ providers }) => providers),
  ),
]);

/** A provider and its models that this key may use; `models` is empty if the service lists none. */
export interface ModelProvider {
  name: string;
  models: string[];
}

/**
 * Lists model providers by the names that a chat request uses. Leaves out providers without
 * a name: no name chooses them (observed-service.md 1.3). Undefined where the
 * dialect has no endpoint. One attempt of at most `withinMs`, which an abort does not
 * end. Throws ApiError.
 */
export async function listProviders(
  client: Client,
  withinMs: number,
): Promise<ModelProvider[] | undefined> {
  const path = client.dialect.paths.providers;
  if (path === undefined) return undefined;
  const call = callTo("list model providers", "GET", path);
  const listed = await client.call({ ...call, detachedMs: withinMs }, ProviderList);
  return listed.flatMap(({ name, model_configurations: models }) =>
    name ? [{ name, models: (models ?? []).flatMap((model) => model.name ?? []) }] : [],
  );
}
