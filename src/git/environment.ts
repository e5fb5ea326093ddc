/**
 * `key=value` for `git -c`. A repository's own configuration names programs that
 * git starts by itself. Those that the commands used here could reach are taken
 * away (git-config(1)); filters have names of their own and are added by
 * openRepository(). An empty core.fsmonitor is off in every version; `false` was
 * the name of a program until git 2.36.
 */
export const fixedSettings = [
  "core.fsmonitor=",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.sshCommand=false",
  "core.askPass=",
  "credential.helper=",
  "diff.external=",
  "diff.relative=false",
  "log.showSignature=false",
  "log.showRoot=true",
  "log.follow=false",
  "protocol.allow=never",
];

const fixedEnvironment = {
  // Messages are told apart by their English words.
  LC_ALL: "C",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  // Stands above every protocol.*.allow of the repository; there is no protocol of this name.
  GIT_ALLOW_PROTOCOL: "none",
};

/**
 * The environment git gets: the caller's without any GIT_ variable, which could
 * name another repository, index, configuration or program than the folder's.
 */
export function gitEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(git_|lc_all$)/i.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...fixedEnvironment };
}
