// oxlint-disable-next-line no-restricted-imports -- the one thing that cannot be handed in
import { chdir, cwd } from "node:process";

/**
 * Runs `build` while the working directory is the folder of this program.
 *
 * cosmiconfig looks for settings of its own in the working directory as soon as
 * it is constructed and *executes* `./.config/config.js` (also .ts, .cjs, .mjs)
 * there, whatever options it is given. In a folder of ours there is nothing to
 * find. This is the only file that changes the working directory, and only
 * during a synchronous call. Throws when it cannot: then nothing is built.
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
