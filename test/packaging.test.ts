import { execFileSync, spawnSync } from "node:child_process";
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
  version: string;
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
  });

  it("ships a bill of materials: every bundled package with its version and licence", () => {
    const bill = JSON.parse(read("dist/sbom.json")) as {
      bomFormat: string;
      components: { name: string; version: string; purl: string; licenses: unknown[] }[];
    };
    expect(bill.bomFormat).toBe("CycloneDX");
    const named = bill.components.map(({ name, version }) => `${name} ${version}`);
    // Each of them has its text in the licences, and the other way round.
    const texts = read("dist/LICENSES.txt").split(/^-{72}$/m);
    const heads = texts.map((text) => text.trim().split("\n")[0]!);
    expect(named.filter((each) => !heads.includes(each))).toEqual([]);
    expect(heads.filter((each) => !named.includes(each))).toEqual([
      `knowctl ${manifest.version}`,
      expect.stringMatching(/^gitleaks/),
    ]);
    const unpdf = bill.components.find(({ name }) => name === "unpdf");
    const version = manifest.devDependencies["unpdf"]!;
    expect(unpdf).toMatchObject({
      type: "library",
      purl: `pkg:npm/unpdf@${version}`,
      licenses: [{ license: { id: "MIT" } }],
    });
    // npm 11 and 12 link manual pages that stand in a list, and overlook a single name.
    expect(manifest.man).toEqual(["docs/knowctl.1"]);
  });
});

describe("the version", () => {
  const tracked = execFileSync("git", ["ls-files"], { cwd: projectFolder, encoding: "utf8" })
    .split("\n")
    .filter((path) => /\.(md|ya?ml|rb|sh|1)$/.test(path))
    .filter((path) => !/^(test|docs\/commands)\//.test(path));

  // As a tag, a package, a file, a title of the CHANGELOG, and in the manual.
  const named =
    /(?:knowctl[/\w.-]*@v?|knowctl-|^## |\bref: v|\brev: v|"knowctl |git tag (?:-a )?v|_VERSION: "|download\/v)(\d+\.\d+\.\d+)/gm;

  it("is the same wherever a file names it", () => {
    const found = tracked.flatMap((path) =>
      [...read(path).matchAll(named)].map(([text, version]) => ({ path, text, version })),
    );
    expect(found.length).toBeGreaterThan(14);
    expect(found.filter(({ version }) => version !== manifest.version)).toEqual([]);
    expect(lock.packages[""]).toMatchObject({ version: manifest.version });
  });
});

describe("the Homebrew formula", () => {
  // A formula is a Ruby class: what brew gives it is replaced by functions that print their arguments.
  const brew = String.raw`
    class Place
      def initialize(name) = @name = name
      def /(other) = Place.new("#{@name}/#{other}")
      def to_s = @name
      %i[install install_symlink].each do |action|
        define_method(action) { |file| puts "#{action} #{file} in #{@name}" }
      end
    end
    class Formula
      %i[desc homepage url sha256 license depends_on].each do |name|
        define_singleton_method(name) { |value| puts "#{name} #{value}" }
      end
      def self.test = nil
      def std_npm_args = ["ARGS"]
      def system(*words) = puts(words.join(" "))
      %i[bin libexec man1].each { |name| define_method(name) { Place.new(name.to_s) } }
      def generate_completions_from_executable(*words) = puts("completion #{words.join(" ")}")
    end
    load ARGV.fetch(0)
    Knowctl.new.install`;
  const { status, stdout, stderr, error } = spawnSync(
    "ruby",
    ["-W2", "-e", brew, join(projectFolder, "Formula", "knowctl.rb")],
    { encoding: "utf8" },
  );

  it.skipIf(error)("installs the package, its manual and its completion", () => {
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.split("\n").slice(2, -1)).toEqual([
      `url https://github.com/your-org/knowctl/releases/download/v${manifest.version}/knowctl-${manifest.version}.tgz`,
      `sha256 ${"0".repeat(64)}`,
      "license MIT",
      "depends_on node",
      "npm install ARGS",
      "install_symlink libexec/bin/knowctl in bin",
      "install docs/knowctl.1 in man1",
      "completion bin/knowctl completion",
    ]);
  });

  it("gives the tarball, once it is released, no other name than npm pack", () => {
    expect(read("docs/publishing.md")).toContain(`knowctl-${manifest.version}.tgz`);
  });
});
