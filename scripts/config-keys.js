// Rows of the table of configuration keys, from the JSON Schema. What the schema does not have
// stands here: an example for every key, in config-examples.json (test/docs/tables.test.ts validates
// them), and a flag where it has not the key's own name.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const text = readFileSync(join(import.meta.dirname, "config-examples.json"), "utf8");
/** Examples by key; `profiles.NAME` stands for any profile. */
const configExamples = JSON.parse(text);

/** Flags by key where they are not the key's last name; null: there is none. */
const flags = {
  $schema: null,
  defaultProfile: "--profile",
  "ingest.ignore": "--no-ignore",
  "ingest.tags": "--tag",
  "state.shared.url": null,
  "state.shared.project": null,
  "state.shared.leaseSeconds": null,
  "chat.personaId": "--agent",
  "chat.projectId": "--project",
  "chat.tools": "--tool",
  "chat.sourceTypes": "--source-type",
  "chat.documentSets": "--document-set",
  "chat.tags": "--filter-tag",
  "chat.stream": "--no-stream",
  "chat.sources": "--no-sources",
  "chat.remember": "--no-remember",
};

function flagOf(key, helpTexts) {
  const name = key.split(".").at(-1);
  const own = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const flag = key in flags ? flags[key] : own;
  const command = key.split(".")[0];
  const help = helpTexts[command === "ingest" || command === "chat" ? command : ""];
  const isFlag = flag !== null && new RegExp(`^ {2,6}(?:-\\w, )?${flag}\\b`, "m").test(help);
  if (flag === null || (!isFlag && !(key in flags))) return undefined;
  if (!isFlag) throw new Error(`config-keys.js: ${key}: there is no flag ${flag}`);
  // Rules and front matter keys have names of flags without being any.
  return key.includes("[]") || key.includes("frontMatter") ? undefined : flag;
}

const code = (text) => `\`${text}\``;

function kindOf(schema) {
  if (schema.enum) return schema.enum.map(code).join(", ");
  if (schema.anyOf?.some((each) => each.properties?.env)) return "a [key](configuration.md#keys)";
  if (schema.anyOf?.some((each) => each.type === "boolean")) return "true, false or text";
  if (schema.anyOf) return `${kindOf(schema.anyOf.at(-1))}, or a list of them`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "array" && schema.items.anyOf) return "list of objects";
  if (schema.type === "array")
    return schema.items.type === "integer" ? "list of ids" : "list of text";
  if (schema.type === "object") return "object";
  if (schema.type === "string") return "text";
  const { minimum, maximum } = schema;
  const isBounded = minimum > Number.MIN_SAFE_INTEGER && maximum < 2 ** 31 - 1;
  const noun = schema.type === "integer" ? "whole number" : "number";
  return isBounded ? `${noun} from ${minimum} to ${maximum}` : noun;
}

/** Keys with their schemas, depth first; the settings of a profile are those of the top level. */
function* keysOf(schema, prefix = "") {
  for (const [name, member] of Object.entries(schema.properties)) {
    const key = prefix + name;
    if (key === "profiles") yield* keysOf(member.additionalProperties, "profiles.NAME.");
    else if (/^profiles\.NAME\.(?:chat|ingest)$/.test(key)) continue;
    else if (member.properties) yield* keysOf(member, `${key}.`);
    else if (member.items?.properties) yield* keysOf(member.items, `${key}[].`);
    else yield [key, member];
  }
}

/** Rows: key, kind of value, example, flag, meaning. Throws where the schema and this file differ. */
export function configKeyRows(schema, helpTexts) {
  const rows = [...keysOf(schema)].map(([key, member]) => {
    if (!(key in configExamples))
      throw new Error(`scripts/config-examples.json: add an example for ${key}`);
    const flag = flagOf(key, helpTexts);
    const cells = [
      code(key),
      kindOf(member),
      code(JSON.stringify(configExamples[key])),
      flag === undefined ? "" : code(flag),
      member.description,
    ];
    return cells.map((cell) => cell.replaceAll("|", "\\|"));
  });
  const known = new Set([...keysOf(schema)].map(([key]) => key));
  const unknown = Object.keys(configExamples).find((key) => !known.has(key));
  if (unknown !== undefined)
    throw new Error(`scripts/config-examples.json: the schema has no ${unknown}`);
  return rows;
}
