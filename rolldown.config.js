import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig } from "rolldown";

// Parts of libraries that load slow parts of Node at start and that the tool never reaches.
// HTTP/2 is never asked for; commander starts no programs; undici compares with
// IncomingMessage and asks for the default header size, both of which we never rely on.
// Of node:assert, which loads its printer of differences, undici calls the plain function.
// Whether a terminal has colours is decided by output.ts, never by chalk.
const leftOut = [
  { from: "undici", source: /\/client-h2\.js$/, code: "module.exports = undefined" },
  // Turns bodies of the fetch interface into bytes: a third of the chunk, only for FormData.
  { from: "undici", source: /\/fetch\/body\.js$/, code: "module.exports = {}" },
  { from: "commander", source: /^node:child_process$/, code: "module.exports = {}" },
  {
    from: "undici",
    source: /^node:http$/,
    code: "module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} }",
  },
  {
    from: "chalk",
    source: /^#supports-color$/,
    code: "module.exports = { stdout: false, stderr: false }",
  },
  {
    from: "undici",
    source: /^node:assert$/,
    code: `module.exports = (value, message) => {
      if (value) return;
      throw message instanceof Error ? message : new Error(message ?? "assertion failed");
    };`,
  },
  {
    // Construction looks for settings of the library's own in the working directory and runs them
    // if they are code: here they are never read, wherever the tool stands. Ours has its own loaders.
    from: "cosmiconfig",
    source: /^\.\/loaders$/,
    code: `const ignore = () => null;
module.exports = { loadJs: ignore, loadJsSync: ignore, loadTs: ignore, loadTsSync: ignore, loadJson: ignore, loadYaml: ignore };`,
  },
  {
    // Its own YAML parser can make functions and brings a whole JavaScript parser; ours replaces it.
    from: "gray-matter",
    source: /^js-yaml$/,
    code: `const refuse = () => { throw new Error("left out"); };
module.exports = { safeLoad: refuse, safeDump: refuse };`,
  },
];

const leftOutIndex = (source, importer = "") =>
  leftOut.findIndex(
    (each) => importer.includes(`node_modules/${each.from}/`) && each.source.test(source),
  );

const leaveOut = {
  name: "leave-out",
  resolveId(source, importer) {
    const index = leftOutIndex(source, importer);
    return index < 0 ? null : `\0left-out-${index}.cjs`;
  },
  load(id) {
    const index = id.startsWith("\0left-out-") ? Number.parseInt(id.slice(10), 10) : -1;
    return leftOut[index]?.code ?? null;
  },
};

// The files of the sandbox's page are text, as Vite reads them in tests.
const rawText = {
  name: "raw-text",
  resolveId: (source, importer) =>
    source.endsWith("?raw") ? join(dirname(importer), source) : null,
  load(id) {
    if (!id.endsWith("?raw")) return null;
    const text = readFileSync(id.slice(0, -"?raw".length), "utf8");
    return { code: `export default ${JSON.stringify(text)};`, moduleType: "js" };
  },
};

// `import()` of a part of Node would first load Node's whole ES module loader: 5 ms in Node 20.
const requireBuiltins = {
  name: "require-builtins",
  renderChunk: (code) =>
    code
      .replace(/\bimport\(("node:[\w/]+")\)/g, "Promise.resolve(require($1))")
      .replace(/\bimport\(("libsql")\)/g, "Promise.resolve({ default: require($1) })"),
};

// CommonJS with one lazy chunk a command: a CommonJS entry starts at Node's own speed.
const program = defineConfig({
  input: {
    main: "src/main.ts",
    context: "src/context.ts",
    program: "src/program.ts",
    worker: "src/worker.ts",
  },
  platform: "node",
  external: (source, importer) =>
    source === "libsql" || (source.startsWith("node:") && leftOutIndex(source, importer) < 0),
  plugins: [leaveOut, rawText, requireBuiltins],
  // gray-matter's own engine for executable front matter holds an eval; it is never called.
  checks: { eval: false, ineffectiveDynamicImport: false },
  output: {
    dir: "dist",
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    // Small parts that nearly every command needs: one file each would cost its opening.
    codeSplitting: {
      groups: [
        {
          name: "schemas",
          test: /\/src\/api\/(connectors|schemas)\.ts$/,
        },
        {
          name: "common",
          test: /\/src\/(api\/dialects|errors|make-folder|nearest|ownership|config\/file\/nodes|output\/terminal\/(?:errors|time|waiting))\.ts$/,
        },
      ],
    },
    minify: false,
  },
});

/** Bundled apart from the rest: what a Tab needs is then one file, whatever else uses its parts. */
export const completion = defineConfig({
  ...program,
  input: { complete: "src/commands/completion/complete.ts" },
});

export default program;
