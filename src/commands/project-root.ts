import type { GlobalFlags } from "../config/global-flags.ts";
import { createMachine } from "../config/find/folders.ts";
import { isOn } from "../config/values/given.ts";
import {
  findProjectMark,
  findUnusedMark,
  projectNameIn,
  type ProjectMark,
  upwardFrom,
  type UpwardRules,
} from "../config/find/places.ts";
import type { Context } from "../context.ts";
import type { RefuseFolder } from "../documents/find/folder.ts";
import { findRoot, type ProjectRoot } from "../documents/files/root.ts";
import { CliError } from "../errors.ts";

type Place = Pick<Context, "cwd" | "env" | "uid">;

function rulesOf({ env, uid }: Place): UpwardRules {
  const trustAll = isOn(env, "KNOWCTL_TRUST_PROJECT");
  return { machine: createMachine({ env, uid }), trustAll };
}

/** The git root at or above a folder; `folder` is an absolute real path. */
export function findGitRoot(context: Place, folder: string): string | undefined {
  return upwardFrom(folder, rulesOf(context)).gitRoot;
}

/**
 * The project root of paths and globs from the command line, without `-`. No path means the
 * working directory. Throws as findRoot(), and CliError `local` for a state of another user.
 */
export function findProjectRoot(
  context: Place,
  paths: readonly string[],
  flags: Pick<GlobalFlags, "root"> & { mayBeRemoved?: boolean },
): ProjectRoot {
  const rules = rulesOf(context);
  const known = new Map<string, ProjectMark | undefined>();
  const markOf = (folder: string): ProjectMark | undefined => {
    if (!known.has(folder)) known.set(folder, findProjectMark(folder, rules));
    return known.get(folder);
  };
  const { root: explicitRoot, mayBeRemoved } = flags;
  return findRoot({ paths, cwd: context.cwd, explicitRoot, mayBeRemoved, markOf });
}

/** The note on a project root without a mark; undefined for a marked root. */
export function textOfUnmarked(
  context: Place,
  { folder, mark, start }: ProjectRoot,
): string | undefined {
  if (mark !== undefined) return undefined;
  const unused = findUnusedMark(start, rulesOf(context));
  const [why, more] =
    unused === undefined
      ? ["No git repository or project file marks it", ""]
      : [
          `Other users can write to ${unused}, so it is not used as the root`,
          `, or keep them out: chmod go-w ${unused}`,
        ];
  return `project root: ${folder}. ${why}: ids depend on the paths you pass. To keep the ids stable, set the root: --root DIR${more}`;
}

/**
 * Refuses files of a nested project: uploaded from its own root, they have other ids.
 * `shown` converts a root-relative path for messages.
 */
export function refuseOtherProject(shown: (path: string) => string): RefuseFolder {
  return ({ path, absolute }, names) => {
    const name = projectNameIn(absolute, names);
    if (name === undefined) return undefined;
    const folder = shown(path);
    const named = folder === "." ? absolute : folder;
    return new CliError("usage", `${named} is a project root of its own: it holds ${name}`, {
      hints: [
        `name it alone, with its own root: '${folder}' --root '${folder}'`,
        `or leave it out of every command: a line /${path}/ in .knowctlignore of the project root`,
        `or leave it out of one upload: --exclude '${path}/**'`,
      ],
    });
  };
}
