import { storedIdsOf, type DialectName } from "../../../api/dialects.ts";
import { checkSuite, namedPaths } from "../../../checks/eval/suite/check-suite.ts";
import type { DocumentNames } from "../../../checks/eval/match-document.ts";
import type { Suite } from "../../../checks/eval/suite/suite.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Config } from "../../../config/load.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { findProjectRoot } from "../../project-root.ts";
import { brokenSuite } from "../load-suite.ts";
import { openFolder } from "../open-folder.ts";
import { readSuiteFolder } from "../suite-folder.ts";

/** The project as the suites name it. */
export interface Project {
  config: Config;
  /** Absolute. */
  root: string;
  names: DocumentNames;
  /** Files of documents that the suites name, by the id that the service stores. */
  known: ReadonlyMap<string, string>;
}

export interface ProjectRequest {
  suites: readonly Suite[];
  /** Dialect of the recording that is replayed; undefined if the service is asked. */
  replayed: DialectName | undefined;
}

/**
 * The suite files whose project is that of the documents, by the search of `ingest` for named paths:
 * a suite names the same files from every working directory. None if no suite is in a marked
 * project: then it is the project of the working directory. Throws CliError `usage` for suites of
 * different projects.
 */
function placesOf(context: Context, { root }: GlobalFlags, suites: readonly Suite[]): string[] {
  const roots = new Map<string, string>();
  for (const { file } of suites) {
    const { folder, mark } = findProjectRoot(context, [file], {});
    if (mark !== undefined && !roots.has(folder)) roots.set(folder, file);
  }
  const [first, ...others] = [...roots.values()];
  if (others.length === 0) return first === undefined ? [] : [first];
  if (root !== undefined) return [];
  throw new CliError("usage", "the suites have different project roots", {
    details: [...roots].map(([folder, file]) => `${file}: ${folder}`),
    hints: ["run the suites of each project separately, or name the root: --root DIR"],
  });
}

/**
 * Looks up the files that suites name, and checks the suites against the folder. Throws CliError
 * `usage` with every problem: a path that does not exist, an expectation that cannot hold.
 */
export async function openProject(
  context: Context,
  flags: GlobalFlags,
  output: Output,
  { suites, replayed }: ProjectRequest,
): Promise<Project> {
  const places = placesOf(context, flags, suites);
  const folder = await openFolder(context, output, places, flags, replayed === undefined);
  try {
    const { config, settings } = folder.source;
    const dialect = replayed ?? config.dialect;
    const storedIds = (id: string): string[] => storedIdsOf(dialect, id);
    const paths = suites.flatMap((suite) => namedPaths(suite).map(({ path }) => path));
    const facts = await readSuiteFolder({ ...folder, storedIds }, paths);
    const problems = suites.flatMap((suite) => checkSuite(suite, facts));
    if (problems.length > 0) {
      const root = `paths count from the project root ${settings.root}; --root names another`;
      const isAboutPath = problems.some(({ message }) => message.includes("does not exist"));
      throw brokenSuite(problems, isAboutPath ? [root] : []);
    }
    const known = new Map(
      paths.flatMap((path) => facts.idsOfPath(path).map((id): [string, string] => [id, path])),
    );
    const { root } = settings;
    return {
      config,
      root,
      names: { idsOfPath: (path) => facts.idsOfPath(path), storedIds },
      known,
    };
  } finally {
    await folder.close();
  }
}
