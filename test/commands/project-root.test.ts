import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { findProjectMark, upwardFrom } from "../../src/config/find/places.ts";
import { findProjectRoot, refuseOtherProject } from "../../src/commands/project-root.ts";
import { findFiles } from "../../src/documents/find/find.ts";
import { loadGlobs } from "../../src/documents/files/patterns.ts";
import { compileSettings } from "../../src/documents/map/settings.ts";
import { CliError } from "../../src/errors.ts";
import { temporaryFolder } from "../support.ts";

await loadGlobs();

const uid = process.geteuid?.() ?? -1;

/** A home with a project in it and a folder beside the home; its parent /tmp is open to others. */
function createPlaces(files: readonly string[] = []) {
  const top = realpathSync(temporaryFolder());
  const put = (path: string, text = "# x\n"): void => {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  };
  const project = "home/code/project";
  for (const path of ["docs/a.md", "docs/deep/c.md", "notes/b.md"]) put(`${project}/${path}`);
  mkdirSync(join(top, "elsewhere"));
  for (const path of files) put(path);
  const env = { HOME: join(top, "home") };
  const at = (path: string): string => join(top, path);
  const find = (paths: string[], cwd: string, root?: string) =>
    findProjectRoot({ cwd: at(cwd), env, uid }, paths, root === undefined ? {} : { root });
  const rootOf = (paths: string[], cwd: string, root?: string): string =>
    relative(top, find(paths, cwd, root).folder);
  return { top, at, put, env, find, rootOf };
}

function failure(call: () => unknown): CliError & { whole: string } {
  try {
    call();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const whole = [error.message, ...error.details, ...error.hints].join("\n");
    return Object.assign(error, { whole });
  }
  throw new Error("expected a failure");
}

const project = "home/code/project";
const marks = {
  git: `${project}/.git/HEAD`,
  configuration: `${project}/.cliconfig.json`,
  state: `${project}/.knowctl/state.db`,
} as const;
const cwds = { above: "home/code", in: project, below: `${project}/docs`, elsewhere: "elsewhere" };
const arguments_ = {
  file: ["docs/a.md"],
  folder: ["docs"],
  "two folders": ["docs", "notes"],
  glob: ["docs/**/*.md"],
};

/** Where nothing marks the root: by the paths (rows) and the working directory. */
const unmarked: Record<keyof typeof arguments_, Record<keyof typeof cwds, string>> = {
  file: { above: cwds.above, in: project, below: cwds.below, elsewhere: cwds.below },
  folder: { above: cwds.above, in: project, below: cwds.below, elsewhere: cwds.below },
  "two folders": { above: cwds.above, in: project, below: project, elsewhere: project },
  glob: { above: cwds.above, in: project, below: cwds.below, elsewhere: cwds.below },
};

describe("the project root", () => {
  const places = Object.entries(cwds) as [keyof typeof cwds, string][];
  for (const [name, paths] of Object.entries(arguments_)) {
    for (const [where, cwd] of places) {
      const given = paths.map((path) => relative(`/${cwd}`, `/${project}/${path}`) || ".");
      it.each(Object.keys(marks) as (keyof typeof marks)[])(
        `of a ${name}, working directory ${where}, marked by %s`,
        (mark) => {
          const { rootOf, find } = createPlaces([marks[mark]]);
          expect(rootOf(given, cwd)).toBe(project);
          expect(find(given, cwd).mark).toBe(mark);
        },
      );
      it(`of a ${name}, working directory ${where}, not marked`, () => {
        const { rootOf, find } = createPlaces();
        expect(rootOf(given, cwd)).toBe(unmarked[name as keyof typeof unmarked][where]);
        expect(find(given, cwd).mark).toBeUndefined();
      });
    }
  }

  // stdin has no path either.
  it.each(places)("without a path, working directory %s", (where, cwd) => {
    const isInside = where === "in" || where === "below";
    for (const file of Object.values(marks)) {
      expect(createPlaces([file]).rootOf([], cwd)).toBe(isInside ? project : cwd);
    }
    expect(createPlaces().rootOf([], cwd)).toBe(cwd);
  });

  it("--root comes first, then configuration, state and git, however near each is", () => {
    const { rootOf } = createPlaces([
      "home/code/.cliconfig.yaml",
      `${project}/.git/HEAD`,
      `${project}/docs/.knowctl/state.db`,
      `${project}/notes/package.json`,
    ]);
    // The configuration above the git root is out of reach.
    expect(rootOf(["docs/a.md"], project)).toBe(`${project}/docs`);
    expect(rootOf(["notes/b.md"], project)).toBe(project);
    expect(rootOf(["docs/a.md"], project, "../..")).toBe("home");
    const configured = createPlaces([marks.configuration, `${project}/docs/.knowctl/state.db`]);
    expect(configured.rootOf(["docs/a.md"], project)).toBe(project);
  });

  it("is not marked by a package.json without our member", () => {
    const { put, rootOf } = createPlaces();
    put(`${project}/package.json`, '{"name": "x"}');
    expect(rootOf(["docs"], "elsewhere/../home/code/project/docs/..")).toBe(project);
    expect(rootOf([`../${project}/docs`], "elsewhere")).toBe(`${project}/docs`);
    put(`${project}/package.json`, '{"cliconfig": {}}');
    expect(rootOf([`../${project}/docs`], "elsewhere")).toBe(project);
  });

  it("is the same before and after `git init`, once a state is there", () => {
    const { put, rootOf } = createPlaces([`${project}/docs/.knowctl/state.db`]);
    const all = (): string[] => [rootOf(["docs"], project), rootOf(["a.md"], `${project}/docs`)];
    expect(all()).toEqual([`${project}/docs`, `${project}/docs`]);
    put(`${project}/.git/HEAD`);
    expect(all()).toEqual([`${project}/docs`, `${project}/docs`]);
  });

  it.each([
    ["a git root and none", [marks.git], [`${project}/docs`, "elsewhere"]],
    ["two states", [`${project}/docs/.knowctl/x`, `${project}/notes/.knowctl/x`], undefined],
    ["a state in a project", [marks.git, `${project}/docs/.knowctl/x`], undefined],
  ])("paths with different roots are refused: %s", (_name, files, paths) => {
    const { find, at } = createPlaces(files);
    const given = (paths ?? [`${project}/docs`, `${project}/notes`]).map(at);
    const error = failure(() => find(given, project));
    expect(error.exit).toBe("usage");
    expect(error.message).toBe("the paths have different project roots");
    expect(error.whole).toContain(given[0]);
    expect(error.whole).toContain(given[1]);
    expect(error.whole).toContain("--root DIR");
    expect(error.whole).toContain("--exclude");
    expect(find(given, project, at("."))).toMatchObject({ mark: "flag" });
  });

  it("has to be there", () => {
    const { find } = createPlaces();
    expect(failure(() => find(["missing"], project)).message).toBe(
      "no such file or folder: missing",
    );
    expect(failure(() => find(["“my"], project)).whole).toContain(
      "the shell does not know the quotation mark “",
    );
    for (const root of ["missing", "docs/a.md"]) {
      expect(failure(() => find(["docs"], project, root)).message).toBe(
        `the project root is not a folder: ${root}`,
      );
    }
  });
});

describe("links", () => {
  it("in a project do not lead to another root", () => {
    const { at, rootOf } = createPlaces([
      marks.git,
      "elsewhere/secret/x.md",
      "elsewhere/.git/HEAD",
    ]);
    symlinkSync(at("elsewhere"), at(`${project}/out`));
    for (const path of ["out", "out/secret", "out/secret/x.md", "out/secret/*.md"]) {
      expect(rootOf([path], project)).toBe(project);
      expect(rootOf([at(`${project}/${path}`)], "elsewhere")).toBe(project);
    }
  });

  it("in an unmarked working directory neither", () => {
    const { at, rootOf } = createPlaces(["elsewhere/.git/HEAD"]);
    symlinkSync(at("elsewhere"), at("home/code/out"));
    expect(rootOf(["out"], "home/code")).toBe("home/code");
  });

  it("on the way to a project are followed", () => {
    const { at, rootOf } = createPlaces([marks.git]);
    symlinkSync(at("home/code"), at("elsewhere/link"));
    symlinkSync(at(`${project}/docs`), at("home/docs"));
    expect(rootOf([at("elsewhere/link/project/docs/a.md")], "home")).toBe(project);
    expect(rootOf([at("home/docs")], "elsewhere")).toBe(project);
    expect(rootOf(["docs"], "home/code/project", at("elsewhere/link"))).toBe("home/code");
  });
});

describe("the search upward", () => {
  const rules = (top: string, more: { uid?: number; platform?: NodeJS.Platform } = {}) => ({
    machine: { home: join(top, "home"), platform: "linux" as const, uid, ...more },
    trustAll: false,
  });

  it("ends at the git root, else below the home folder, else where others can write", () => {
    const { top, at, put } = createPlaces();
    const shown = (start: string): string[] =>
      upwardFrom(at(start), rules(top)).folders.map((folder) => relative(top, folder));
    expect(shown(`${project}/docs`)).toEqual([`${project}/docs`, project, "home/code"]);
    expect(shown("home")).toEqual(["home", ""]);
    expect(shown("elsewhere")).toEqual(["elsewhere", ""]);
    put(marks.git);
    expect(shown(`${project}/docs`)).toEqual([`${project}/docs`, project]);
  });

  it("ends below the root of the file system", () => {
    const outside = {
      machine: { home: "/nowhere", platform: "linux" as const, uid },
      trustAll: false,
    };
    expect(upwardFrom("/usr/lib", outside).folders).toEqual(["/usr/lib", "/usr"]);
    expect(upwardFrom("/", outside).folders).toEqual(["/"]);
  });

  it("uses nothing of a folder that others can write to", () => {
    const { at, env, put, rootOf } = createPlaces();
    put("home/code/.cliconfig.json", "{}");
    put("home/code/.knowctl/state.db");
    put("home/code/.git/HEAD");
    const outside = "elsewhere";
    const argument = at(`${project}/docs`);
    expect(rootOf([argument], outside)).toBe("home/code");
    for (const mode of [0o777, 0o1777]) {
      chmodSync(at("home/code"), mode);
      expect(rootOf([argument], outside)).toBe(`${project}/docs`);
      expect(rootOf([], "home/code")).toBe("home/code");
    }
    // A pipeline that owns its checkout may have got it with mode 0777; /tmp is nobody's.
    Object.assign(env, { KNOWCTL_TRUST_PROJECT: "1" });
    expect(rootOf([argument], outside)).toBe(`${project}/docs`);
    chmodSync(at("home/code"), 0o777);
    expect(rootOf([argument], outside)).toBe("home/code");
  });

  it("does not ask for modes where there are none", () => {
    const { top, at } = createPlaces();
    chmodSync(at("home/code"), 0o777);
    const windows = rules(top, { platform: "win32", uid: -1 });
    expect(upwardFrom(at(project), windows).folders).toEqual([at(project), at("home/code")]);
  });

  it("stops the run at a state of another user", () => {
    const { top, at } = createPlaces([marks.state]);
    const foreign = rules(top, { uid: 4711 });
    const error = failure(() => findProjectMark(at(`${project}/docs`), foreign));
    expect(error.exit).toBe("local");
    expect(error.message).toContain(`${at(`${project}/.knowctl`)} belongs to another user`);
    expect(error.whole).toContain("KNOWCTL_TRUST_PROJECT=1");
    const trusting = { ...foreign, trustAll: true };
    expect(findProjectMark(at(`${project}/docs`), trusting)?.kind).toBe("state");
  });
});

describe("a project below the root", () => {
  function search(files: readonly string[], paths: string[], exclude: string[] = []): string[] {
    const { at } = createPlaces(files);
    const root = at(project);
    const settings = compileSettings({ root, exclude });
    const refuseFolder = refuseOtherProject((path) => path);
    return [...findFiles(paths, { cwd: root, settings, refuseFolder })].map((found) =>
      found.kind === "file" ? found.file.path : found.reason,
    );
  }

  it.each([
    ".knowctl/state.db",
    ".cliconfig.json",
    ".cliconfig.yaml",
    ".cliconfig.yml",
    ".cliconfig",
  ])("with %s refuses its files, and names the ways out", (file) => {
    const files = [`${project}/docs/${file}`];
    for (const paths of [["."], ["docs"], ["docs/deep/c.md"], ["**/*.md"]]) {
      const error = failure(() => search(files, paths));
      expect(error.exit).toBe("usage");
      expect(error.message).toContain("docs is a project root of its own");
      expect(error.whole).toContain("name it alone, with its own root: 'docs' --root 'docs'");
      expect(error.whole).toContain("--exclude 'docs/**'");
      // Not every command that lists the project has --exclude: eval, status and verify do not.
      expect(error.whole).toContain("a line /docs/ in .knowctlignore of the project root");
    }
    expect(search(files, ["."], ["docs/**"])).toEqual(["notes/b.md"]);
    expect(search(files, ["notes"])).toEqual(["notes/b.md"]);
  });

  it("is left out by an ignore rule", () => {
    const { at, put } = createPlaces([`${project}/docs/.knowctl/state.db`]);
    put(`${project}/.knowctlignore`, "docs/\n");
    const settings = compileSettings({ root: at(project) });
    const options = {
      cwd: at(project),
      settings,
      refuseFolder: refuseOtherProject((path) => path),
    };
    expect([...findFiles(["."], options)]).toHaveLength(1);
  });

  it("that holds no file of the run is of no interest", () => {
    expect(search([`${project}/empty/.knowctl/state.db`], ["."])).toHaveLength(3);
    expect(search([`${project}/docs/package.json`], ["."])).toHaveLength(4);
  });
});
