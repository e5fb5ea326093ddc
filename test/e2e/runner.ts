import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { patienceMs } from "../patience.ts";
import { follow, type CliResult } from "../ran.ts";
import { projectFolder } from "../support.ts";

interface Step {
  id?: string;
  name?: string;
  if?: string;
  uses?: string;
  run?: string;
  shell?: string;
  env?: Record<string, string>;
  with?: Record<string, string>;
  "working-directory"?: string;
}

export interface Action {
  inputs: Record<string, { description: string; default?: string; required?: boolean }>;
  outputs: Record<string, { description: string; value: string }>;
  runs: { using: string; steps: Step[] };
}

const actionFolder = join(projectFolder, ".github", "actions", "ingest");

const ownAction = load(readFileSync(join(actionFolder, "action.yml"), "utf8")) as Action;

export function loadAction(): Action {
  return ownAction;
}

/** What the runner makes of `${{ inputs.x }}`; nothing else is expected in what it evaluates here. */
function evaluate(text: string, inputs: Record<string, string>): string {
  return text.replace(/\$\{\{ inputs\.([a-z-]+) \}\}/g, (_all, name: string) => inputs[name] ?? "");
}

/** The outputs that a step wrote: `name<<delimiter`, lines, delimiter. */
function readOutputs(path: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  for (const [, name, , value] of text.matchAll(/^([\w-]+)<<(end-\S+)\n([^]*?)\n\2$/gm)) {
    outputs[name!] = value!;
  }
  return outputs;
}

/**
 * Runs one step of the action as GitHub's runner does: inputs become variables as action.yml maps
 * them, and bash reads the step's script.
 */
export async function runStep(
  name: string,
  given: Record<string, string>,
  { folder, env }: { folder: string; env: Record<string, string> },
  actionPath = actionFolder,
): Promise<CliResult & { outputs: Record<string, string>; summary: string }> {
  const action = loadAction();
  const step = action.runs.steps.find((each) => each.name === name)!;
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([each, { default: text = "" }]) => [
      each,
      given[each] ?? text,
    ]),
  );
  const temporary = join(folder, "..", "runner");
  mkdirSync(temporary, { recursive: true });
  const script = join(temporary, "step.sh");
  writeFileSync(script, step.run!);
  const [output, summary] = ["output", "summary"].map((each) => join(temporary, each)) as [
    string,
    string,
  ];
  for (const each of [output, summary]) writeFileSync(each, "");
  const stepEnv = Object.entries(step.env ?? {}).map(([key, value]) => [
    key,
    evaluate(value, inputs),
  ]);
  const cwd = join(folder, evaluate(step["working-directory"] ?? ".", inputs));
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
    cwd,
    env: {
      ...env,
      CI: "true",
      GITHUB_ACTIONS: "true",
      GITHUB_ACTION_PATH: actionPath,
      GITHUB_WORKSPACE: folder,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: temporary,
      ...Object.fromEntries(stepEnv),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: patienceMs,
  });
  const ran = await follow(child, step.run!, cwd).ended;
  return {
    ...ran,
    outputs: readOutputs(output),
    summary: readFileSync(summary, "utf8"),
  };
}
