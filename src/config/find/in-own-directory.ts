// oxlint-disable-next-line no-restricted-imports -- cosmiconfig reads the process's directory, which no argument replaces
import { chdir, cwd } from "node:process";

/**
 * Runs `build` while the working directory is the folder of this program.
 *
 * On construction, cosmiconfig searches the working directory for its own settings and
 * *executes* `./.config/config.js` (also .ts, .cjs, .mjs) there. No option prevents this.
 * This program's folder holds no such file. Only this file changes the working directory,
 * and only during a synchronous call. Throws if it cannot; then `build` does not run.
 */
export function inOwnDirectory<Result>(build: () => Result): Result {
  const before = cwd();
  chdir(import.meta.dirname);
  try {
    return build();
  } finally {
    chdir(before);
  }
}
