import { keyWithoutScheme } from "../../config/values/secrets.ts";
import { CliError } from "../../errors.ts";
import type { Prompt } from "../prompt.ts";

/**
 * The key without a `Bearer ` that was copied with it. Asks on a terminal before it removes
 * the prefix. Throws CliError `not-configured` where nobody can be asked, or the answer is no.
 */
export async function askBareKey(prompt: Prompt, key: string): Promise<string> {
  const bare = keyWithoutScheme(key);
  if (bare === undefined) return key;
  if (await prompt.confirm('The key begins with "Bearer ", which is no part of it. Remove it?'))
    return bare;
  throw new CliError("not-configured", 'the key begins with "Bearer ", which is no part of it', {
    hints: ["give the key without the prefix; nothing was saved"],
  });
}
