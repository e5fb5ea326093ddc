import { lstatSync } from "node:fs";
import { codeOf } from "../../errors.ts";

/** Whether something of this name is there. What cannot be looked at may be there: true. */
export function exists(absolutePath: string): boolean {
  try {
    return lstatSync(absolutePath, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const code = codeOf(error);
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}
