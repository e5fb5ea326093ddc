import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { blocksOf, pages } from "../docs/pages.ts";
import { projectFolder, temporaryFolder } from "../support.ts";
import { writeFiles } from "../service.ts";
import { loadAction } from "./runner.ts";

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

const folder = join(projectFolder, "examples", "repository", ".github", "workflows");

/** Text of each workflow: the examples, and the blocks of pages. */
const workflows: [string, string][] = [
  ...readdirSync(folder).map((name): [string, string] => [
    name,
    readFileSync(join(folder, name), "utf8"),
  ]),
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
  "name runs-on needs if permissions env strategy steps concurrency timeout-minutes environment";
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
    for (const id of namesAfter("steps", expressionsIn(text).join(" "))) expect(ids).toContain(id);
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
