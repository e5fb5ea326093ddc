/**
 * `key=value` for `git -c`. A repository's own configuration can name programs that
 * git starts. These settings disable every such program that the commands used here
 * could start (git-config(1)). openRepository() disables filters, whose names vary.
 * An empty core.fsmonitor is off in every version; before git 2.36, `false` was
 * the name of a program.
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
  // Callers match git's English messages.
  LC_ALL: "C",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  // Overrides every protocol.*.allow of the repository; no protocol has this name.
  GIT_ALLOW_PROTOCOL: "none",
};

/**
 * Environment for git: the caller's, without its GIT_ variables. A GIT_ variable could
 * select another repository, index, configuration or program.
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
