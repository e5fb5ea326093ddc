import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The bytes of every file below a folder as text, a character a byte. */
export function everythingIn(folder: string): string {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .map((each) => {
      const path = join(each.parentPath, each.name);
      return each.isFile() ? `${path}\n${readFileSync(path, "latin1")}\n` : "";
    })
    .join("");
}
