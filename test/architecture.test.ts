import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder, temporaryFolder } from "./support.ts";

type Kind = "value" | "type";

/** Modules that stand for every place of src/. */
const modules = {
  api: "api/client.ts",
  "api, one folder down": "api/retry/gate.ts",
  "api/schemas": "api/schemas.ts",
  "api/chat-schemas": "api/chat-schemas.ts",
  checks: "checks/lint.ts",
  cli: "cli/options.ts",
  commands: "commands/connect.ts",
  config: "config/load.ts",
  context: "context.ts",
  database: "database.ts",
  driver: "driver.ts",
  documents: "documents/inspect/read.ts",
  errors: "errors.ts",
  flags: "commands/chat/flags.ts",
  git: "git/repository.ts",
  main: "main.ts",
  "make-folder": "make-folder.ts",
  "replace-file": "replace-file.ts",
  nearest: "nearest.ts",
  output: "output/terminal/output.ts",
  ownership: "ownership.ts",
  program: "cli/program.ts",
  recording: "recording.ts",
  sandbox: "sandbox/http/server.ts",
  sync: "sync/run/run.ts",
  worker: "worker.ts",
} as const;

type Module = keyof typeof modules;

// What is here for one place alone; the process itself belongs to the global of context.ts.
const libraries =
  "chalk commander cosmiconfig fast-glob gray-matter libsql micromatch ora pg process string-width undici node:process";

interface Room {
  /** The file that imports, relative to src/. */
  file: string;
  /** What it may import, and of what only types. */
  values: readonly Module[];
  types?: readonly Module[];
  libraries?: string[];
}

const schemas = ["api/schemas", "api/chat-schemas"] as const;
const api = ["api", "api, one folder down", ...schemas] as const;
const belowCommands: readonly Module[] = [
  "commands",
  "config",
  "documents",
  "sync",
  "output",
  "checks",
  "sandbox",
  "git",
  "errors",
  "recording",
  ...api,
];

/** The table "Who may import whom" of CONTRIBUTING.md. */
const rooms: Record<string, Room> = {
  main: { file: "main.ts", values: ["program", "errors", "output"], types: ["context"] },
  cli: {
    file: "cli/planted.ts",
    // Commands on demand only: see below.
    values: ["errors", "cli", "program", "flags", "commands"],
    types: ["context", "config"],
    libraries: ["commander"],
  },
  flags: {
    file: "commands/ingest/flags-planted.ts",
    // Commands on demand only: see below.
    values: ["errors", "cli", "program", "flags", "commands"],
    types: ["context", "config"],
    libraries: ["commander"],
  },
  commands: {
    file: "commands/planted.ts",
    values: belowCommands,
    types: ["context"],
  },
  "commands, one folder down": {
    file: "commands/chat/planted.ts",
    values: belowCommands,
    types: ["context"],
  },
  api: { file: "api/planted.ts", values: ["errors", ...api], libraries: ["undici"] },
  "api, one folder down": {
    file: "api/chat/planted.ts",
    values: ["errors", ...api],
    libraries: ["undici"],
  },
  documents: {
    file: "documents/planted.ts",
    values: ["errors", "documents"],
    types: [...schemas, "git"],
    libraries: ["fast-glob", "gray-matter", "micromatch"],
  },
  "documents, one folder down": {
    file: "documents/inspect/planted.ts",
    values: ["errors", "documents"],
    types: [...schemas, "git"],
    libraries: ["fast-glob", "gray-matter", "micromatch"],
  },
  git: { file: "git/planted.ts", values: ["errors", "git"] },
  sync: {
    file: "sync/planted.ts",
    values: ["errors", "database", "sync", "documents"],
    types: schemas,
  },
  "sync/shared": {
    file: "sync/shared/planted.ts",
    values: ["errors", "database", "sync", "documents"],
    types: schemas,
    libraries: ["pg"],
  },
  output: {
    file: "output/planted.ts",
    values: ["errors", "output"],
    types: ["context", "sync", "documents", "checks", ...schemas],
    libraries: ["chalk", "ora", "string-width"],
  },
  "output, one folder down": {
    file: "output/chat/planted.ts",
    values: ["errors", "output"],
    types: ["context", "sync", "documents", "checks", ...schemas],
    libraries: ["chalk", "ora", "string-width"],
  },
  checks: {
    file: "checks/planted.ts",
    values: ["errors", "documents", "checks"],
    types: ["sync", ...api],
  },
  sandbox: {
    file: "sandbox/planted.ts",
    values: ["errors", "database", "recording", "sandbox", ...schemas],
  },
  config: { file: "config/planted.ts", values: ["errors", "config"], libraries: ["cosmiconfig"] },
  database: { file: "database.ts", values: ["errors", "driver"] },
  driver: { file: "driver.ts", values: ["errors"], libraries: ["libsql"] },
  recording: { file: "recording.ts", values: ["errors"] },
  "make-folder": { file: "make-folder.ts", values: ["errors"] },
  "replace-file": { file: "replace-file.ts", values: ["errors"] },
  nearest: { file: "nearest.ts", values: ["errors"] },
  ownership: { file: "ownership.ts", values: ["errors"] },
  context: { file: "context.ts", values: ["errors"] },
  worker: { file: "worker.ts", values: ["errors", "documents", "checks"] },
  errors: { file: "errors.ts", values: [] },
};

/** One import a line, so that a complaint names its import by its line. */
function importsOf(room: Room): { line: string; name: string; allowed: boolean }[] {
  const at = (path: string): string => {
    const way = relative(dirname(room.file), path);
    return way.startsWith(".") ? way : `./${way}`;
  };
  const internal = Object.entries(modules)
    .filter(([, path]) => path !== room.file)
    .flatMap(([name, path]) =>
      (["value", "type"] as const satisfies Kind[]).map((kind) => ({
        line: `export ${kind === "type" ? "type " : ""}{ x } from ${JSON.stringify(at(path))};`,
        name: `${kind} of ${name}`,
        allowed: [...room.values, ...(kind === "type" ? (room.types ?? []) : [])].includes(
          // The ground floor as a whole: whoever may import errors may import it.
          ["make-folder", "nearest", "ownership", "replace-file"].includes(name)
            ? "errors"
            : (name as Module),
        ),
      })),
    );
  const external = libraries.split(" ").map((name) => ({
    line: `export { x } from ${JSON.stringify(name)};`,
    name,
    allowed: room.libraries?.includes(name) === true,
  }));
  return [...internal, ...external];
}

interface Diagnostic {
  code: string;
  filename: string;
  labels: { span: { line: number } }[];
}

/** Lints files (by their path below src/) with the project's rules; gives the lines at which `rule` complains. */
function refusedLines(
  files: Record<string, string>,
  rule = "eslint(no-restricted-imports)",
): Map<string, Set<number>> {
  const folder = temporaryFolder();
  copyFileSync(join(projectFolder, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "src", path)), { recursive: true });
    writeFileSync(join(folder, "src", path), text);
  }
  const oxlint = join(projectFolder, "node_modules", "oxlint", "bin", "oxlint");
  const { stdout } = spawnSync(process.execPath, [oxlint, "--format", "json", "."], {
    cwd: folder,
    encoding: "utf8",
  });
  const refused = new Map<string, Set<number>>(Object.keys(files).map((path) => [path, new Set()]));
  for (const each of (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics) {
    if (each.code !== rule) continue;
    for (const { span } of each.labels) refused.get(each.filename.slice(4))?.add(span.line);
  }
  return refused;
}

describe("the linter", () => {
  const plant = (room: Room): [file: string, text: string] => [
    room.file,
    importsOf(room)
      .map(({ line }) => `${line}\n`)
      .join(""),
  ];
  let refusals: Map<string, Set<number>> | undefined;

  it.each(Object.entries(rooms))("knows what %s may import", (_name, room) => {
    const imports = importsOf(room);
    // The linter reads all of them at once.
    refusals ??= refusedLines(Object.fromEntries(Object.values(rooms).map(plant)));
    const refused = refusals.get(room.file);
    const names = (allowed: (index: number) => boolean): string[] =>
      imports.filter((_each, index) => allowed(index)).map(({ name }) => name);
    expect(names((index) => refused?.has(index + 1) === false)).toEqual(
      names((index) => imports[index]?.allowed === true),
    );
  });

  it("has a rule for every folder and file of src", () => {
    const found = readdirSync(join(projectFolder, "src")).map((name) => name.replace(/\.ts$/, ""));
    expect(found.filter((name) => !Object.hasOwn(rooms, name))).toEqual([]);
  });

  it("lets a folder of documents import only what stands left of it", () => {
    const layers = "files text front-matter site page formats parts payload map find inspect".split(
      " ",
    );
    const lines = layers.map((name) => `export { x } from "../${name}/x.ts";`).join("\n");
    const files = layers.map((name) => [`documents/${name}/planted.ts`, `${lines}\n`]);
    const refused = refusedLines(Object.fromEntries(files) as Record<string, string>);
    for (const [at, name] of layers.entries()) {
      const right = layers.slice(at + 1).map((_each, index) => at + 2 + index);
      expect([...(refused.get(`documents/${name}/planted.ts`) ?? [])], name).toEqual(right);
    }
  });

  it("refuses an import on demand as well", () => {
    const text = `export const load = () => import("../sync/run.ts");\n`;
    expect(refusedLines({ "api/planted.ts": text }).get("api/planted.ts")).toEqual(new Set([1]));
  });
});

function sources(folder = "src"): string[] {
  const all = readdirSync(join(projectFolder, folder), { recursive: true, encoding: "utf8" });
  return all.filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
}

const textOf = (path: string): string => readFileSync(join(projectFolder, path), "utf8");

it("the linter refuses a circle of imports, also one of types alone", () => {
  const files = {
    "sync/a.ts": 'import type { B } from "./b.ts";\nexport type A = B | 1;\n',
    "sync/b.ts": 'import type { A } from "./a.ts";\nexport type B = A[];\n',
  };
  const refused = refusedLines(files, "import(no-cycle)");
  expect([...refused.values()]).toEqual([new Set([1]), new Set([1])]);
});

/** Circles of imports of any kind. The linter does not follow those on demand. */
function circles(folder: string): string[] {
  const imported = /(?:from|import\()\s*"(\.[^"]+\.ts)"/g;
  const graph = new Map(
    sources(folder).map((path) => [
      path,
      [...textOf(path).matchAll(imported)].map(([, to = ""]) => join(dirname(path), to)),
    ]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const open: string[] = [];
  const visit = (path: string): void => {
    const at = open.indexOf(path);
    if (at >= 0) found.push(open.slice(at).join(" → "));
    if (at >= 0 || done.has(path)) return;
    open.push(path);
    for (const to of graph.get(path) ?? []) visit(to);
    open.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return found;
}

describe("the sources", () => {
  it("have no circle of imports, of types and of imports on demand either", () => {
    expect(circles("src")).toEqual([]);
  });

  it("flags load their command on demand only: a start loads the flags of all", () => {
    const flags = sources("src/commands").filter((path) => /[\\/]flags[^\\/]*$/.test(path));
    expect(flags.length).toBeGreaterThan(10);
    // The flags of another command too: `status` shares some with `ingest`.
    const loadedAtStart =
      /^\.\/flags|^\.\.\/[a-z]+\/flags|^\.\.\/commands\/[a-z]+\/flags|cli\/|errors/;
    for (const path of [...flags, ...sources("src/cli")]) {
      const statically = textOf(path).matchAll(/^(?:import|\}) (?!type).*from "(\..*)";$/gm);
      for (const [, from = ""] of statically) {
        const isNear = /^\.\.?\/(?:help\/)?[a-z-]+\.ts$/.test(from);
        expect(isNear || loadedAtStart.test(from), `${path}: ${from}`).toBe(true);
        if (flags.includes(path)) expect(from, path).toMatch(loadedAtStart);
      }
    }
  });

  it("no file is over 400 lines", () => {
    const lines = sources().map((path) => ({ path, lines: textOf(path).split("\n").length - 1 }));
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter(({ lines: count }) => count > 400)).toEqual([]);
  });

  it("no folder but api/ holds more than 17 files", () => {
    const counts = new Map<string, number>();
    for (const path of sources()) {
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(80);
    const large = [...counts].filter(([, count]) => count > 17).map(([folder]) => folder);
    expect(large).toEqual([join("src", "api")]);
  });

  it("there are no default exports, barrels or classes but errors", () => {
    for (const path of sources()) {
      const text = textOf(path);
      expect(text, path).not.toMatch(/^export (default\b|\* from)/m);
      for (const [, , parent] of text.matchAll(/^(?:export )?class (\w+)(?: extends (\w+))?/gm)) {
        expect(parent, path).toMatch(/Error$/);
      }
    }
  });
});

describe("the tests", () => {
  const inModel = (path: string): boolean => path.startsWith(join("test", "model"));
  it.each([
    [
      "run the program through main.ts, which prints what a failing test ran",
      /\/src\/main\.ts"/,
      "main.ts",
    ],
    ["try values through property.ts, which says how many", /from "fast-check"/, "property.ts"],
    ["mock no module", /\bvi\.(?:do)?mock\(/i, ""],
    [
      "expect nothing of elapsed time",
      /expect\((?:performance|Date)\.now|AbortSignal\.timeout/,
      "",
    ],
  ])("%s", (_name, pattern, only) => {
    const found = sources("test").filter((path) => !inModel(path) && pattern.test(textOf(path)));
    const self = join("test", "architecture.test.ts");
    expect(found.filter((path) => path !== self)).toEqual(only === "" ? [] : [join("test", only)]);
  });
});
