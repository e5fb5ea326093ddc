import { readdirSync } from "node:fs";

/** A name with each byte outside printable ASCII written like `\xe9`. */
function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/**
 * Returns a function that shows the bytes of a name that is not UTF-8. Node decodes every invalid
 * byte to U+FFFD, so several names can look equal. Call the function once for each such name, with
 * the name as Node decoded it: each call uses up one name of the folder.
 */
export function createRawNames(folder: string): (name: string) => string {
  let remaining: Buffer[] | undefined;
  return (name) => {
    remaining ??= readdirSync(folder, { encoding: "buffer" });
    const at = remaining.findIndex((bytes) => bytes.toString() === name);
    const [bytes] = at < 0 ? [] : remaining.splice(at, 1);
    return bytes ? escapeBytes(bytes) : name;
  };
}
