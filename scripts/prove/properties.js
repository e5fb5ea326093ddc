import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../install.js";
import { runTests } from "./vitest.js";

/** The tests in folders or files of this name that try many values; of `all` every one. */
function propertyTests(name) {
  const all = readdirSync(join(projectFolder, "test"), { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".test.ts") && !path.startsWith("model/"));
  const named = all.filter(
    (path) => name === "all" || `/${path}`.includes(`/${name}/`) || path.startsWith(name),
  );
  return named
    .map((path) => `test/${path}`)
    .filter((path) => readFileSync(join(projectFolder, path), "utf8").includes("/property.ts"));
}

/** Tries each property of test/NAME with many values. `held` completes "what held". */
export async function propertiesPart(name, { seconds, seed, runs = "5000" }, held) {
  const files = propertyTests(name);
  if (files.length === 0) return { unknown: true };
  const texts = files.map((file) => readFileSync(join(projectFolder, file), "utf8")).join("\n");
  const count = texts.match(/\b(?:fc\.assert|forSeeds|turns)\(/g)?.length ?? 1;
  const { passed, failed, values } = await runTests([...files, "--testTimeout=0"], {
    KNOWCTL_TEST_RUNS: runs,
    // Files run side by side, the properties of a file one after the other.
    PROVE_SECONDS: String(Math.max(10, Math.floor(seconds / count))),
    PROVE_SEED: String(seed),
  });
  return {
    tried: [`${passed + failed.length} tests of ${files.length} files, with ${values} values`],
    held: [held ?? `every property of test/${name}`],
    violated: failed.map(({ name: test, text }) => ({
      what: `${test}\n${text}`,
      replay: `npm run prove -- ${name} --seed ${seed} --runs ${runs}`,
    })),
  };
}
