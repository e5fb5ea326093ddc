// Stands in for Node's module loader in the single file, where the program's modules are no
// files. Its text is put into that file; nothing else loads it.
"use strict";

/**
 * Makes a function that runs a carried module by its name (`bin/knowctl.cjs`).
 * `read` gives what is carried under a name, as text or, for a name that is asked for
 * with `carried`, as it is. `nodeRequire` loads parts of Node and nothing else: a folder
 * node_modules that happens to lie around is never looked at. `filename` is the single
 * file; worker threads start with it too.
 */
// oxlint-disable-next-line no-unused-vars -- called by the text that follows where this is put
function createCarrier(nodeRequire, read, filename) {
  const { compileFunction } = nodeRequire("node:vm");
  const { isBuiltin } = nodeRequire("node:module");
  const { dirname, posix } = nodeRequire("node:path");
  const parameters = ["exports", "require", "module", "__filename", "__dirname", "carried"];
  const loaded = new Map();

  function requireFrom(name) {
    const require = (wanted) => {
      if (wanted.startsWith(".")) return load(posix.join(posix.dirname(name), wanted));
      if (wanted.startsWith("node:") || isBuiltin(wanted)) return nodeRequire(wanted);
      throw Object.assign(new Error(`Cannot find module '${wanted}'`), {
        code: "MODULE_NOT_FOUND",
      });
    };
    require.resolve = () => filename;
    return require;
  }

  function load(name) {
    const known = loaded.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const text = String(read(name));
    if (name.endsWith(".json")) module.exports = JSON.parse(text);
    else {
      const run = compileFunction(text.replace(/^#!.*/, ""), parameters, {
        filename: `${filename}/${name}`,
      });
      run(module.exports, requireFrom(name), module, filename, dirname(filename), read);
    }
    return module.exports;
  }
  return load;
}
