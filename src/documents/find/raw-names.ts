import { readdirSync } from "node:fs";

/** A name with each byte that is no ASCII as `\xE9`. */
function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(/[^ -~]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/**
 * Tells names of a folder apart that are not UTF-8: Node gives the same sign for each such
 * byte. Called once for each of them, with the name as Node has it, it gives them as bytes.
 */
export function createRawNames(folder: string): (name: string) => string {
  let left: Buffer[] | undefined;
  return (name) => {
    left ??= readdirSync(folder, { encoding: "buffer" });
    const at = left.findIndex((bytes) => bytes.toString() === name);
    const [bytes] = at < 0 ? [] : left.splice(at, 1);
    return bytes ? escapeBytes(bytes) : name;
  };
}
