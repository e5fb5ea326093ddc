import { posix } from "node:path";
import { readBlocks } from "../blocks/rst-blocks.ts";
import { toLines } from "../blocks/rst-lines.ts";
import { createReading, nameOf, type Reading } from "../rst-reading.ts";

const reference = /\|([^|\s](?:[^|\n]{0,60}[^|\s])?)\|/g;
const block = /^rst_(?:prolog|epilog)[ \t]*\+?=[ \t]*[rRuU]?("""|''')([\s\S]*?)\1/gm;
const value = /^(version|release)[ \t]*=[ \t]*["']([^"'\n]{1,200})["']/gm;

/** The configuration of Sphinx in a folder above the document. */
function findConfiguration({ around, chain }: Reading): string | undefined {
  for (let folder = chain[0] ?? ""; folder !== ".";) {
    folder = posix.dirname(folder);
    const found = around.includes.read(`/${folder === "." ? "" : `${folder}/`}conf.py`, chain);
    if ("text" in found) return found.text;
    if (found.problem !== "no such file") return undefined;
  }
  return undefined;
}

/** Whether a template language or Sphinx's configuration may add targets to the page. */
export function mayGetTargets(reading: Reading): boolean {
  if (/\{[{%]/.test(reading.source)) return true;
  return /rst_(?:prolog|epilog)|source-read/.test(findConfiguration(reading) ?? "");
}

/**
 * Adds the substitutions and targets that Sphinx's configuration gives to every page. Reads it only
 * if the page refers to a substitution that it does not define. Only literal texts are known: the
 * configuration is Python, which is never run.
 */
export function addConfiguration(reading: Reading, text: string): void {
  const { substitutions, targets, rawRoles } = reading;
  let isComplete = true;
  for (const [, name = ""] of text.matchAll(reference)) {
    isComplete &&= substitutions.has(nameOf(name));
  }
  const configuration = isComplete ? undefined : findConfiguration(reading);
  if (configuration === undefined) return;
  const shared = createReading(reading.chain[0] ?? "", reading.around);
  for (const [, , lines = ""] of configuration.matchAll(block)) {
    readBlocks(shared, toLines(lines, undefined));
  }
  for (const [, name = "", literal = ""] of configuration.matchAll(value)) {
    shared.substitutions.set(name, { kind: "text", text: literal });
  }
  for (const [name, each] of shared.substitutions) {
    if (!substitutions.has(name)) substitutions.set(name, each);
  }
  for (const [name, each] of shared.targets) if (!targets.has(name)) targets.set(name, each);
  for (const role of shared.rawRoles) rawRoles.add(role);
}
