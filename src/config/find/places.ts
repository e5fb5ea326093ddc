import { basename } from "node:path";

/** The unparsed text of a configuration file; our own parser knows positions for messages. */
export interface FoundFile {
  path: string;
  text: string;
}

/** The member of a package.json that holds a configuration. */
export const member = "cliconfig";

/** Names of a project file, in order of preference. `package.json` needs a `cliconfig` member. */
export const projectPlaces = [
  ".cliconfig.json",
  ".cliconfig.yaml",
  ".cliconfig.yml",
  ".cliconfig",
  "package.json",
];

/** Names of the user file, in order of preference. */
export const userPlaces = ["config.json", "config.yaml"];

/** Whether the text of a package.json has our member. */
export function hasMember(text: string): boolean {
  if (!text.includes(`"${member}"`)) return false;
  try {
    return Object.hasOwn(JSON.parse(text) as object, member);
  } catch {
    // Broken, but it names our member: our own parser will report the position.
    return true;
  }
}

/** Path of the configuration inside a file of this name. */
export function prefixOf(path: string): string[] {
  return basename(path) === "package.json" ? [member] : [];
}
