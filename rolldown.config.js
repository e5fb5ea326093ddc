import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig } from "rolldown";

// What of libraries must not come into the program: two parts of undici that nothing reaches and that
// take a fifth of the time of `connectors list` to load (HTTP/2, bodies of the fetch interface), and
// what is not safe.
const leftOut = [
  { from: "undici", source: /\/client-h2\.js$/, code: "module.exports = undefined" },
  { from: "undici", source: /\/fetch\/body\.js$/, code: "module.exports = {}" },
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
  { from: "pg", source: /^\.\/native$/, code: "module.exports = undefined" },
  { from: "pg", source: /^pg-cloudflare$/, code: "module.exports = {}" },
  { from: "pg", source: /^pgpass$/, code: "module.exports = undefined" },
  { from: "pg", source: /^pg-pool$/, code: "module.exports = class {}" },
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
    program: "src/cli/program.ts",
    worker: "src/worker.ts",
    // For the build and the documentation: the names and the words of the rules of lint.
    rules: "src/checks/lint/rules.ts",
  },
  platform: "node",
  // Its main file asks for its parts in a way that a bundler cannot follow.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  external: (source) => source === "libsql" || source.startsWith("node:"),
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
          // Also web hooks use the client, without a connection of a profile.
          name: "connect",
          test: /\/src\/(api\/(?:call|client|retry\/retry|transport\/(?:attempt|transport))|commands\/connect)\.ts$/,
        },
        {
          name: "common",
          test: /\/src\/(api\/dialects|errors|make-folder|nearest|ownership|config\/(?:file\/problems|find\/folders|values\/url)|output\/terminal\/(?:errors|neutralise|progress|spinner|time))\.ts$/,
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
