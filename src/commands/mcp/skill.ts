import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../errors.ts";
import { createOutput } from "../../output/terminal/output.ts";

/** What an agent wants, and the command line that does it. Tests run each against the sandbox, in order. */
export const wishes: readonly (readonly [wish: string, line: string])[] = [
  ["see the connectors and their cc_pair_id", "knowctl connectors list --output json"],
  ["get the cc_pair_id of a connector", 'knowctl connectors find "Handbook uploads"'],
  ["find out why a connection fails", "knowctl doctor --output json"],
  ["find what makes files bad to answer from", "knowctl lint docs --output json"],
  ["see what an upload would send", "knowctl ingest docs --cc-pair-id 2 --dry-run --output json"],
  ["upload what changed", "knowctl ingest docs --cc-pair-id 2 --output json"],
  ["send again what failed", "knowctl retry --cc-pair-id 2"],
  ["see what differs from the last upload", "knowctl status docs --output json"],
  ["check that uploads are in the index", "knowctl verify docs --output json"],
  ["see why a file is sent, and as what", "knowctl explain docs/leave.md --output json"],
  ["search the index", 'knowctl search "annual leave" --output json'],
  ["ask the assistant", 'knowctl chat "How do I request leave?" --output json'],
];

const costs = [
  "`knowctl chat`: one model call, more with `--deep-research`.",
  "`knowctl search`: nothing where the service has a free search; else it names the cost and needs `--allow-tokens N`.",
  "`knowctl verify --via chat` and `knowctl eval`: they name the number of calls and need `--allow-tokens N`.",
];

const neverAlone = [
  "`knowctl prune`: deletes documents.",
  "`knowctl login`, `knowctl logout`: change the stored key.",
  "`knowctl config trust`: lets a project file change addresses, keys and ids.",
  "`knowctl state forget`, `knowctl state import`: change what counts as uploaded.",
  "`knowctl api` with another method than GET.",
  "flags that permit: `--yes`, `--overwrite`, `--allow-secrets`, `--allow-id-change`, `--allow-pruned`, `--drop-access`.",
];

const forms = [
  "Write `--output json` (one value) or `--output ndjson` (a value a line). stdout is data alone; notes and errors are on stderr.",
  "`--fields a,b` picks members, `--jq EXPR` computes from them.",
  "Without a terminal nothing is asked: a missing answer is an error that names its flag.",
  "`--help` of each command has examples; `knowctl help exit-codes` and other topics have the rest.",
];

const bullets = (lines: readonly string[]): string => lines.map((each) => `- ${each}`).join("\n");
const cell = (text: string): string => text.replaceAll("|", "\\|");
const rows = (lines: readonly (readonly string[])[]): string =>
  lines.map((each) => `| ${each.map(cell).join(" | ")} |`).join("\n");

/** The text of SKILL.md. `commands` are all commands with their descriptions. */
export function skillText(commands: readonly (readonly [name: string, summary: string])[]): string {
  const codes = Object.entries(exitCodes).map(([name, { code, when }]) => [`${code}`, name, when]);
  return `---
name: knowctl
description: Upload folders of documents to a knowledge assistant, search them, ask questions with cited sources, and check the result, with the knowctl command line.
---

# knowctl

## Which command for which wish

| to | run |
| --- | --- |
${rows(wishes.map(([wish, line]) => [wish, `\`${line}\``]))}

## Results for a program

${bullets(forms)}

## What costs model tokens

${bullets(costs)}

## Never run these without a person

${bullets(neverAlone)}

## Exit codes

Read an unknown code as a failure. One line on stderr says why, the lines with an arrow say what to do.

| code | name | when |
| --- | --- | --- |
${rows(codes)}

## All commands

| command | does |
| --- | --- |
${rows(commands.map(([name, summary]) => [`\`${name}\``, summary]))}
`;
}

/** `skill`: prints SKILL.md. `commands` as for skillText(). */
export async function printSkill(
  context: Context,
  flags: GlobalFlags,
  commands: Parameters<typeof skillText>[0],
): Promise<void> {
  const output = createOutput(context, flags);
  await output.line(skillText(commands).trimEnd());
}
