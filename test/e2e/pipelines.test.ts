import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
} from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { helpTexts, topicTexts } from "../../src/cli/program.ts";
import { blocksOf, pages, pipelinePages } from "../docs/pages.ts";
import { writeFiles } from "../service.ts";
import { projectFolder, temporaryFolder } from "../support.ts";
import { type Place, preparePlace, runExample, runShell } from "./shell.ts";
import { packSmall, scope, startRegistry } from "./package.ts";
import { loadAction } from "./runner.ts";
import type { CliResult } from "../ran.ts";

describe("pipelines", () => {
  const folder = join(projectFolder, "docs");
  const blocks = pipelinePages.flatMap(blocksOf);

  /** What a runner puts in place before a shell sees the script. */
  const withoutExpressions = (script: string): string => script.replace(/\$\{\{.*?\}\}/g, "x");

  /** Scripts of a workflow or a pipeline: the values of `run`, `script` and the like, at any depth. */
  function scriptsIn(value: unknown): string[] {
    if (Array.isArray(value)) return value.flatMap(scriptsIn);
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, each]) => {
      const isScript = name === "run" || name === "script" || name === "before_script";
      return isScript ? [each].flat().map(String) : scriptsIn(each);
    });
  }

  const workflows = blocks
    .filter(({ language }) => language === "yaml")
    .map(({ body }) => ({ body, value: load(body) }));
  const scripts = workflows.flatMap(({ value }) => scriptsIn(value)).map(withoutExpressions);

  const isShellThere = process.platform !== "win32";

  describe.runIf(isShellThere)("the pages about pipelines", () => {
    const runnable = blocks.filter(({ mark }) => mark.startsWith("runnable"));

    it.each(runnable.map((block) => [block.body.split("\n")[0]!, block] as const))(
      "works as it is written: %s",
      async (_first, block) => {
        const place = await preparePlace();
        const { code, stderr } = await runExample(block.body, place);
        expect({ code, stderr }).toEqual({
          code: 0,
          stderr: expect.not.stringMatching(/error|warning/),
        });
        // What the first run leaves behind is what the second one begins with.
        const isChat = block.body.includes("knowctl chat");
        if (isChat || block.body.includes("kept/"))
          expect(await runExample(block.body, place)).toMatchObject({ code: 0 });
        if (isChat) {
          // A batch with --resume asks nothing twice; this block ran twice, each time anew.
          const messages = place.sandbox.ledger.chats.map((body) => body["message"]);
          expect(messages).toHaveLength(2 * new Set(messages).size);
          return;
        }
        const sent = [...place.sandbox.ledger.documents.values()];
        const rows = block.body.includes("--format csv") ? 1 : 2;
        expect(sent).toHaveLength(block.body.includes("printf") ? rows : 6);
        expect(sent.filter((bodies) => bodies.length !== 1)).toEqual([]);
      },
    );

    it("has shell blocks and scripts without a mistake of syntax", () => {
      const shell = blocks.filter(({ language }) => language === "sh").map(({ body }) => body);
      expect(shell.length).toBeGreaterThan(4);
      expect(scripts.length).toBeGreaterThan(0);
      for (const script of [...shell, ...scripts]) {
        const { status, stderr } = spawnSync("sh", ["-n"], { input: script, encoding: "utf8" });
        expect({ status, stderr }, script).toEqual({ status: 0, stderr: "" });
      }
    });
  });

  it("workflows never put an expression into a script", () => {
    for (const { value } of workflows) {
      for (const script of scriptsIn(value)) expect(script).not.toContain("${{");
    }
    expect(workflows.length).toBeGreaterThan(3);
  });

  // Flags of other programs that the documentation shows.
  const foreign = new Set(
    // npm and its scripts, git, pre-commit, docker.
    "--global --ignore-scripts --omit --unshallow --hook-type --rm --volume --user --env --build-arg --provenance --access --package-lock-only --page --seconds --seed".split(
      " ",
    ),
  );

  it("every flag that the documentation names is one of the program", () => {
    const texts = [...Object.values(helpTexts()), topicTexts()["global-flags"]!];
    const known = new Set(texts.flatMap((help) => help.match(/--[a-z][a-z-]+/g) ?? []));
    const names = readdirSync(folder).filter(
      (name) => name.endsWith(".md") && name !== "commands.md",
    );
    const pages = [...names.map((name) => join("docs", name)), "README.md"];
    for (const page of pages) {
      const found = readFileSync(join(projectFolder, page), "utf8").match(
        /(?<![\w-])--[a-z][a-z-]+/g,
      );
      const unknown = [...new Set(found)].filter((flag) => !known.has(flag) && !foreign.has(flag));
      expect(unknown, page).toEqual([]);
    }
  });
});

describe("pipeline files", () => {
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

    it("refuses what names no package before npm runs", async () => {
      const refused = [
        [{}, "knowctl is not published, and this image has none"],
        [
          { INGEST_REGISTRY: "https://packages.example/" },
          "the bare name knowctl is not installed",
        ],
        [
          { INGEST_REGISTRY: "http://registry.example" },
          "INGEST_REGISTRY: expected an https address",
        ],
        [{ INGEST_REGISTRY: "https://me:secret@r.example" }, "INGEST_REGISTRY: expected an https"],
        [{ INGEST_REGISTRY: "http://localhost:1@r.example" }, "INGEST_REGISTRY: expected an https"],
        [{ INGEST_SCOPE: "@a/x@npm:evil" }, "INGEST_SCOPE: expected an npm scope"],
        [
          { INGEST_SCOPE: "@a", INGEST_VERSION: "npm:evil@1" },
          "INGEST_VERSION: expected a version",
        ],
        [
          { INGEST_SCOPE: "@a", INGEST_VERSION: "1 --global" },
          "INGEST_VERSION: expected a version",
        ],
        [{ INGEST_SCOPE: "acme" }, "INGEST_SCOPE: expected an npm scope"],
        [{ INGEST_TARBALL: "knowctl" }, "INGEST_TARBALL: expected a file"],
      ] as const;
      const place = await prepareBare();
      writeFiles(place.folder, { "programs/npm": "#!/bin/sh\ntouch npm-ran\n" });
      chmodSync(join(place.folder, "programs/npm"), 0o755);
      place.env["PATH"] = `${join(place.folder, "programs")}:${place.env["PATH"]}`;
      for (const [given, message] of refused) {
        const { code, stderr } = await runJob(".knowctl:check", given, place);
        expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
        expect(existsSync(join(place.folder, "npm-ran")), message).toBe(false);
      }
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

    it("of the loop, .gitlab-ci.yml extends a job of the template too", () => {
      const { loop } = readYaml<Record<string, Job>>("examples", "loop", ".gitlab-ci.yml");
      expect(Object.keys(template)).toContain(loop!.extends);
      expect(loop!.variables).toEqual({ SCRIPT: "loop.sh", KNOWCTL_DIALECT: "onyx" });
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
      const script = "knowctl config validate\nknowctl ingest docs README.md --cc-pair-id 2";
      const { code, stderr } = await runExample(script, { ...place, folder });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/warning/) });
      expect([...place.sandbox.ledger.documents.keys()].toSorted()).toEqual([
        "README.md",
        "docs/on-call.md",
        "docs/releases.md",
      ]);
    });
  });
});

describe("workflow rules", () => {
  // The rules of actionlint that concern these files, and pinned actions. Where actionlint is
  // installed, it judges the workflows as well.

  interface Step {
    id?: string;
    uses?: string;
    run?: string;
    shell?: string;
    [member: string]: unknown;
  }

  interface Job {
    "runs-on"?: string;
    needs?: string | string[];
    steps: Step[];
    [member: string]: unknown;
  }

  interface Workflow {
    on: unknown;
    permissions?: unknown;
    jobs: Record<string, Job>;
  }

  const folders = ["repository", "loop"].map((name) =>
    join(projectFolder, "examples", name, ".github", "workflows"),
  );

  /** Text of each workflow: the examples, and the blocks of pages. */
  const workflows: [string, string][] = [
    ...folders.flatMap((folder) =>
      readdirSync(folder).map((name): [string, string] => [
        name,
        readFileSync(join(folder, name), "utf8"),
      ]),
    ),
    [
      "engines/ci/github.yml",
      readFileSync(join(projectFolder, "examples", "engines", "ci", "github.yml"), "utf8"),
    ],
    ...pages
      .flatMap(blocksOf)
      .filter(({ language, body }) => language === "yaml" && /^jobs:/m.test(body))
      .map(({ where, body }): [string, string] => [where, body]),
  ];

  const action = loadAction();
  const actionText = readFileSync(
    join(projectFolder, ".github", "actions", "ingest", "action.yml"),
    "utf8",
  );

  const stepMembers = "id name if uses run shell env with working-directory continue-on-error";
  const jobMembers =
    "name runs-on needs if permissions env services strategy steps concurrency timeout-minutes environment";
  const contexts = "github env vars secrets matrix needs steps inputs runner strategy job";

  const unknownIn = (value: object, known: string): string[] =>
    Object.keys(value).filter((name) => !known.split(" ").includes(name));

  const expressionsIn = (text: string): string[] =>
    [...text.matchAll(/\$\{\{(.*?)\}\}/gs)].map(([, inner]) => inner!);

  /** Names that follow a context in expressions and conditions: `inputs.x` gives x. */
  function namesAfter(context: string, text: string): string[] {
    const found = text.matchAll(new RegExp(String.raw`(?<![\w.-])${context}\.([\w-]+)`, "g"));
    return [...new Set([...found].map(([, name]) => name!))];
  }

  function checkStep(step: Step): void {
    expect(unknownIn(step, stepMembers)).toEqual([]);
    expect([step.uses, step.run].filter((each) => each !== undefined)).toHaveLength(1);
    // An expression in a script is replaced before the shell reads it: text becomes code.
    expect(step.run ?? "").not.toContain("${{");
    if (step.uses === undefined) return;
    // This project's own action has a placeholder for its owner.
    const isPinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(step.uses);
    const isOwn = /^your-org\/knowctl\/\.github\/actions\/ingest@v\d+\.\d+\.\d+$/.test(step.uses);
    expect(isPinned || isOwn, step.uses).toBe(true);
  }

  function checkExpressions(text: string): void {
    const known = new RegExp(`^(?:${contexts.replaceAll(" ", "|")})\\.[\\w.-]+$`);
    for (const inner of expressionsIn(text)) {
      for (const part of inner.split(/\|\||&&|==|!=/)) {
        const isLiteral = /^\s*(?:'[^']*'|\d+|true|false)\s*$/.test(part);
        expect(isLiteral || known.test(part.trim()), inner).toBe(true);
      }
    }
  }

  describe("action.yml", () => {
    it("declares the inputs that it uses, and uses the inputs that it declares", () => {
      const used = namesAfter("inputs", actionText);
      expect(used.toSorted()).toEqual(Object.keys(action.inputs).toSorted());
    });

    it("has steps that a composite action can have, each script with its shell", () => {
      expect(action.runs.using).toBe("composite");
      for (const step of action.runs.steps as unknown as Step[]) {
        checkStep(step);
        if (step.run !== undefined) expect(step.shell).toBe("bash");
      }
      const ids = action.runs.steps.map(({ id }) => id);
      for (const id of namesAfter("steps", actionText)) expect(ids).toContain(id);
    });

    it("has expressions of known contexts, and no secrets, which no action sees", () => {
      checkExpressions(actionText);
      expect(namesAfter("secrets", actionText)).toEqual([]);
    });

    it("describes each input and each output", () => {
      for (const each of Object.values(action.inputs)) {
        expect(unknownIn(each, "description default required")).toEqual([]);
        expect(each.description).toBeTruthy();
        expect(typeof (each.default ?? "")).toBe("string");
      }
      for (const each of Object.values(action.outputs)) {
        expect(unknownIn(each, "description value")).toEqual([]);
      }
    });
  });

  describe.each(workflows)("the workflow %s", (_name, text) => {
    const workflow = load(text) as Workflow;

    it("has known members, and jobs that exist", () => {
      expect(unknownIn(workflow, "name on permissions concurrency env jobs")).toEqual([]);
      expect(workflow.on).toBeDefined();
      for (const job of Object.values(workflow.jobs)) {
        expect(unknownIn(job, jobMembers)).toEqual([]);
        expect(job["runs-on"]).toBe("ubuntu-latest");
        for (const name of [job.needs ?? []].flat()) expect(workflow.jobs).toHaveProperty(name);
        job.steps.forEach(checkStep);
      }
    });

    it("names only steps, contexts and rights that it has", () => {
      checkExpressions(text);
      const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
      const ids = steps.map(({ id }) => id);
      for (const id of namesAfter("steps", expressionsIn(text).join(" ")))
        expect(ids).toContain(id);
      // Without it, the token of the run has the rights that the repository grants by default.
      expect(workflow.permissions).toMatchObject({ contents: "read" });
    });
  });

  const hasActionlint = spawnSync("actionlint", ["-version"]).status === 0;

  it.runIf(hasActionlint)("actionlint has nothing to say", () => {
    const place = temporaryFolder();
    writeFiles(place, Object.fromEntries(workflows.map(([, text], at) => [`${at}.yml`, text])));
    const files = workflows.map((_each, at) => `${at}.yml`);
    const ran = spawnSync("actionlint", ["-no-color", ...files], { cwd: place, encoding: "utf8" });
    expect({ status: ran.status, said: ran.stdout + ran.stderr }).toEqual({ status: 0, said: "" });
  });
});
