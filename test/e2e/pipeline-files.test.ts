import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { topicTexts } from "../../src/cli/program.ts";
import { writeFiles } from "../service.ts";
import { projectFolder, temporaryFolder } from "../support.ts";
import { packSmall, scope, startRegistry } from "./package.ts";
import { loadAction } from "./runner.ts";
import { preparePlace, runShell, type Place } from "./shell.ts";
import type { CliResult } from "../ran.ts";

const repository = join(projectFolder, "examples", "repository");

function readYaml<Content>(...path: string[]): Content {
  return load(readFileSync(join(projectFolder, ...path), "utf8")) as Content;
}

/** The variables of the topic `environment`, and one of a global flag. */
const variables = new Set([
  ...(topicTexts()["environment"]?.match(/KNOWCTL_[A-Z_]+/g) ?? []),
  "KNOWCTL_DIALECT",
]);

interface Job {
  extends?: string;
  variables?: Record<string, string>;
  script?: string[];
  before_script?: string[];
  artifacts?: { paths: string[]; reports: Record<string, string> };
}

const template = readYaml<Record<string, Job>>(".gitlab", "knowctl.yml");
const isShellThere = process.platform !== "win32";

/** A job of the template with what it extends: GitLab merges variables by name. */
function jobOf(name: string): Job {
  const own = template[name]!;
  const base = own.extends === undefined ? {} : jobOf(own.extends);
  return { ...base, ...own, variables: { ...base.variables, ...own.variables } };
}

async function runJob(
  name: string,
  given: Record<string, string>,
  place: Place,
): Promise<CliResult> {
  const { before_script: before = [], script = [], variables: own } = jobOf(name);
  const env = { ...place.env, CI: "true", CI_PROJECT_DIR: place.folder, ...own, ...given };
  return await runShell([...before, ...script].join("\n"), { folder: place.folder, env });
}

describe.runIf(isShellThere)("the GitLab template", () => {
  it("uploads the paths, a line each, and writes the reports that its artifacts name", async () => {
    const place = await preparePlace();
    const name = "a b $(touch canary) `x` 'y' \"z\" *";
    writeFiles(place.folder, {
      [`${name}/one.md`]: "# One\n",
      "-f/two.md": "# Two\n",
      "documents/three.md": "# Three\n",
      "docs/broken.md": "---\na: [\n---\n",
    });
    const given = {
      INGEST_PATHS: `docs\n${name}\n\n-f\ndocuments\n`,
      KNOWCTL_CC_PAIR_ID: "2",
      INGEST_FLAGS: "--id-prefix=$(touch canary)'\"/\n",
    };
    const { code, stderr } = await runJob(".knowctl:ingest", given, place);
    expect({ code, stderr }).toMatchObject({ code: 10 });
    expect(existsSync(join(place.folder, "canary"))).toBe(false);
    expect([...place.sandbox.ledger.documents.keys()]).toHaveLength(9);
    expect([...place.sandbox.ledger.documents.keys()]).toContain(
      `$(touch canary)'"/${name}/one.md`,
    );
    const { reports } = jobOf(".knowctl:ingest").artifacts!;
    const read = (path: string): string => readFileSync(join(place.folder, path), "utf8");
    expect(read(reports["junit"]!)).toContain("<testsuites");
    expect(JSON.parse(read(reports["codequality"]!))).toMatchObject([
      { location: { path: "docs/broken.md", lines: { begin: 3 } } },
    ]);
  });

  it("takes the job's share where there are several, and the configuration without paths", async () => {
    const place = await preparePlace();
    writeFiles(place.folder, { ".cliconfig.json": '{"ingest":{"include":["docs/**"]}}' });
    for (const index of ["1", "2"]) {
      const given = { KNOWCTL_CC_PAIR_ID: "2", CI_NODE_INDEX: index, CI_NODE_TOTAL: "2" };
      expect(await runJob(".knowctl:ingest", given, place)).toMatchObject({ code: 0 });
    }
    expect([...place.sandbox.ledger.documents.values()].map(({ length }) => length)).toEqual(
      Array.from({ length: 6 }, () => 1),
    );
  });

  it("checks a merge request without a key and a service", async () => {
    const place = await preparePlace();
    const env = { ...place.env, KNOWCTL_BASE_URL: "", KNOWCTL_API_KEY: "" };
    const given = { INGEST_PATHS: "docs" };
    expect(await runJob(".knowctl:check", given, { ...place, env })).toMatchObject({ code: 0 });
    expect(existsSync(join(place.folder, ".knowctl"))).toBe(false);
    writeFiles(place.folder, { "docs/broken.md": "---\na: [\n---\n" });
    expect(await runJob(".knowctl:check", given, { ...place, env })).toMatchObject({ code: 10 });
    expect(place.sandbox.ledger.documents.size).toBe(0);
  });

  it("names variables that exist, and the version of the package", () => {
    const manifest = readYaml<{ version: string }>("package.json");
    expect(jobOf(".knowctl").variables).toMatchObject({ INGEST_VERSION: manifest.version });
    for (const job of Object.keys(template)) {
      const names = Object.keys(jobOf(job).variables ?? {});
      expect(names.filter((each) => !variables.has(each) && !each.startsWith("INGEST_"))).toEqual(
        [],
      );
    }
  });
});

describe.runIf(isShellThere)("the installation of the GitLab template", () => {
  /** A place whose image has npm, and knowctl only as `npm install --global` leaves it there. */
  async function prepareBare(): Promise<Place> {
    const place = await preparePlace();
    const prefix = temporaryFolder();
    const [, ...path] = place.env["PATH"]!.split(":");
    const PATH = [join(prefix, "bin"), ...path].join(":");
    return { ...place, env: { ...place.env, PATH, npm_config_prefix: prefix } };
  }

  it("installs a tarball", async () => {
    const place = await prepareBare();
    copyFileSync(packSmall().path, join(place.folder, "-a b.tgz"));
    const given = { INGEST_TARBALL: "-a b.tgz", INGEST_PATHS: "docs" };
    const { code, stdout, stderr } = await runJob(".knowctl:check", given, place);
    expect({ code, stderr, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain("small knowctl: ingest --dry-run --no-state -- ./docs");
  });

  it("installs a scope from its registry", async () => {
    const place = await prepareBare();
    const name = `${scope}/knowctl`;
    const { url, version, requests } = await startRegistry(name);
    const given = { INGEST_REGISTRY: url, INGEST_VERSION: version, INGEST_SCOPE: scope };
    const { code, stdout, stderr } = await runJob(".knowctl:check", given, place);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain("small knowctl: ingest");
    expect(requests).toEqual([`/${name}`, "/knowctl.tgz"]);
  });

  it.each([
    [{}, "knowctl is not published, and this image has none"],
    [{ INGEST_REGISTRY: "https://packages.example/" }, "the bare name knowctl is not installed"],
    [{ INGEST_REGISTRY: "http://registry.example" }, "INGEST_REGISTRY: expected an https address"],
    [{ INGEST_REGISTRY: "https://me:secret@r.example" }, "INGEST_REGISTRY: expected an https"],
    [{ INGEST_REGISTRY: "http://localhost:1@r.example" }, "INGEST_REGISTRY: expected an https"],
    [{ INGEST_SCOPE: "@a/x@npm:evil" }, "INGEST_SCOPE: expected an npm scope"],
    [{ INGEST_SCOPE: "@a", INGEST_VERSION: "npm:evil@1" }, "INGEST_VERSION: expected a version"],
    [{ INGEST_SCOPE: "@a", INGEST_VERSION: "1 --global" }, "INGEST_VERSION: expected a version"],
    [{ INGEST_SCOPE: "acme" }, "INGEST_SCOPE: expected an npm scope"],
    [{ INGEST_TARBALL: "knowctl" }, "INGEST_TARBALL: expected a file"],
  ])("refuses %j before npm runs", async (given, message) => {
    const place = await prepareBare();
    writeFiles(place.folder, { "programs/npm": "#!/bin/sh\ntouch npm-ran\n" });
    chmodSync(join(place.folder, "programs/npm"), 0o755);
    place.env["PATH"] = `${join(place.folder, "programs")}:${place.env["PATH"]}`;
    const { code, stderr } = await runJob(".knowctl:check", given, place);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(existsSync(join(place.folder, "npm-ran"))).toBe(false);
  });
});

interface Workflow {
  jobs: Record<
    string,
    { steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }
  >;
}

describe("examples/repository", () => {
  it.each(["knowledge.yml", "knowledge-check.yml"])(
    "%s uses inputs and outputs that the action has",
    (name) => {
      const path = ["examples", "repository", ".github", "workflows", name];
      const { jobs } = readYaml<Workflow>(...path);
      const { inputs, outputs } = loadAction();
      const steps = Object.values(jobs).flatMap((job) => job.steps);
      const own = steps.filter(({ uses }) => uses?.includes("/.github/actions/ingest@"));
      expect(own).toHaveLength(1);
      expect(Object.keys(own[0]!.with ?? {}).filter((each) => !inputs[each])).toEqual([]);
      const text = readFileSync(join(projectFolder, ...path), "utf8");
      for (const [, each] of text.matchAll(/steps\.upload\.outputs\.([\w-]+)/g)) {
        expect(Object.keys(outputs)).toContain(each);
      }
      for (const { run = "" } of steps) expect(run).not.toContain("${{");
    },
  );

  it(".gitlab-ci.yml extends jobs of the template with variables that exist", () => {
    const jobs = Object.entries(
      readYaml<Record<string, Job>>("examples", "repository", ".gitlab-ci.yml"),
    );
    const extending = jobs.filter(([, job]) => job.extends !== undefined);
    expect(extending).toHaveLength(2);
    for (const [, job] of extending) {
      expect(Object.keys(template)).toContain(job.extends);
      for (const name of Object.keys(job.variables ?? {})) {
        expect(variables.has(name) || name in jobOf(".knowctl").variables!).toBe(true);
      }
    }
  });

  it(".pre-commit-config.yaml names hooks that exist", () => {
    const { repos } = readYaml<{ repos: { hooks: { id: string }[] }[] }>(
      "examples/repository/.pre-commit-config.yaml",
    );
    const ids = repos.flatMap((repo) => repo.hooks.map(({ id }) => id));
    const hooks = readYaml<{ id: string }[]>(".pre-commit-hooks.yaml");
    expect(ids.toSorted()).toEqual(hooks.map(({ id }) => id).toSorted());
  });

  it.runIf(isShellThere)("can be uploaded as it is", async () => {
    const place = await preparePlace();
    const folder = join(place.folder, "repository");
    mkdirSync(join(folder, ".git"), { recursive: true });
    cpSync(repository, folder, { recursive: true });
    const script = "knowctl config validate && knowctl ingest docs README.md --cc-pair-id 2";
    const { code, stderr } = await runShell(script, { ...place, folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/warning/) });
    expect([...place.sandbox.ledger.documents.keys()].toSorted()).toEqual([
      "README.md",
      "docs/on-call.md",
      "docs/releases.md",
    ]);
  });
});
