import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "./support.ts";

interface LockedPackage {
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  hasInstallScript?: boolean;
  integrity?: string;
  link?: boolean;
}

const read = (name: string): string => readFileSync(join(projectFolder, name), "utf8");
const lock = JSON.parse(read("package-lock.json")) as { packages: Record<string, LockedPackage> };
const packages = Object.entries(lock.packages).filter(([path]) => path !== "");
const manifest = JSON.parse(read("package.json")) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  scripts: Record<string, string>;
  man: unknown;
};

describe("dependencies", () => {
  it("bring no install script", () => {
    expect(packages.filter(([, each]) => each.hasInstallScript).map(([path]) => path)).toEqual([]);
    const own = Object.keys(manifest.scripts);
    expect(own.filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
  });

  it("are at most 75 packages in production, all with a checksum", () => {
    // Compilers that a library could use if they were there (typescript) are not installed for it.
    const production = packages.filter(([path, each]) => {
      if (each.dev || each.devOptional || path.includes("/@typescript/")) return false;
      const fits = !each.os || each.os.includes("linux");
      return fits && (!each.cpu || each.cpu.includes("x64"));
    });
    expect(production.length).toBeGreaterThan(20);
    expect(production.length).toBeLessThanOrEqual(75);
    expect(production.filter(([, each]) => !each.integrity)).toEqual([]);
  });

  it("have exact versions", () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    expect(read(".npmrc")).toContain("engine-strict=true");
  });
});

describe("npm pack", () => {
  it("ships only what runs, with the licences of what is bundled", () => {
    const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: projectFolder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [packed] = JSON.parse(json) as [{ files: { path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    const expected =
      /^(bin\/knowctl\.cjs|dist\/.+\.(cjs|json)|dist\/LICENSES\.txt|schema\/.+\.json|docs\/knowctl\.1|examples\/handbook\/.+\.md|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
    expect(paths.filter((path) => !expected.test(path))).toEqual([]);
    expect(paths).toContain("bin/knowctl.cjs");
    expect(paths).toContain("dist/help.json");
    expect(paths).toContain("docs/knowctl.1");
    expect(read("dist/LICENSES.txt")).toMatch(/^unpdf \d/m);
    expect(read("dist/LICENSES.txt")).toMatch(/^gitleaks \(rules/m);
    // npm 11 and 12 link manual pages that stand in a list, and overlook a single name.
    expect(manifest.man).toEqual(["docs/knowctl.1"]);
  });
});
