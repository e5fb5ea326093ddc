import { gitEnvironment } from "./environment.ts";
import { runGit, type Git, type RunOptions } from "./run.ts";

/** The last name of an address or path: `git@host:team/handbook.git` is `handbook`. */
function nameIn(url: string): string | undefined {
  const path = url.replace(/[/\\]+$/, "").replace(/\.git$/, "");
  return path.split(/[/\\:]/).at(-1) || undefined;
}

/**
 * The name of the repository at its remote: `origin`, else the first one. Undefined without a remote,
 * and where git or the repository cannot be used. Contacts nobody.
 */
export async function remoteName(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  options: RunOptions = {},
): Promise<string | undefined> {
  const git: Git = { folder, env: gitEnvironment(env), settings: [] };
  const args = ["config", "--local", "-z", "--get-regexp", "^remote\\..*\\.url$"];
  let stdout: string;
  try {
    ({ stdout } = await runGit(git, args, options));
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  }
  const urls = stdout.split("\0").map((entry) => {
    const end = entry.indexOf("\n");
    return { key: entry.slice(0, end), url: entry.slice(end + 1) };
  });
  const remote = urls.find(({ key }) => key === "remote.origin.url") ?? urls[0];
  return remote && nameIn(remote.url);
}
