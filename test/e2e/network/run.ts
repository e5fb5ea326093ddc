import { runHere } from "../../main.ts";

/** Runs the tool in this process; its waits end at once. */
export function runMain(
  args: readonly string[],
  { folder, env }: { folder: string; env: Record<string, string> },
): ReturnType<typeof runHere> {
  return runHere(args, { cwd: folder, env });
}
