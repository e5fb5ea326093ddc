import { keyWithoutScheme } from "../../config/values/secrets.ts";
import { CliError } from "../../errors.ts";
import type { Prompt } from "../prompt.ts";

/**
 * Removes a copied `Bearer ` prefix from a key, after a question on the terminal. Throws
 * CliError `not-configured` without a terminal, or if the answer is no.
 */
export async function askBareKey(prompt: Prompt, key: string): Promise<string> {
  const bare = keyWithoutScheme(key);
  if (bare === undefined) return key;
  if (await prompt.confirm('The key begins with "Bearer ", which is not part of it. Remove it?'))
    return bare;
  throw new CliError("not-configured", 'the key begins with "Bearer ", which is not part of it', {
    hints: ["enter the key without the prefix; nothing was saved"],
  });
}

/** Returns a key that a header can hold. Throws CliError `not-configured` for any other text. */
export function checkKeyText(key: string): string {
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  const why =
    key === ""
      ? "the key is empty"
      : "this is not a key: it holds spaces, line breaks or other invalid characters";
  throw new CliError("not-configured", why, { hints: ["a key is one word; nothing was saved"] });
}
