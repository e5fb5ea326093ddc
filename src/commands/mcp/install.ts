import { existsSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { refuseSpecial, whileLocked, writeWhole } from "../../config/file/files.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { clients, type ClientName } from "./clients.ts";
import { edit, entryIn, entryText, type Entry, type Place } from "./entry.ts";
import { checkPermission, rootOf, type PermissionFlags } from "./permission.ts";
import { createOutput } from "../../output/terminal/output.ts";
import { createMachine } from "../../config/find/folders.ts";

type InstallFlags = GlobalFlags & PermissionFlags;

function placeOf(context: Context, name: ClientName): Place {
  const { path, form, servers } = clients[name];
  return { path: path(createMachine(context)), form, servers };
}

/** The command line of the server, with absolute paths: a client starts it anywhere. */
function entryFor(context: Context, name: ClientName, flags: InstallFlags): Entry {
  const root = rootOf(context, flags);
  checkPermission(context, root, flags);
  const { profile, config, allowTokens, allowIngest, ccPairId } = flags;
  const args = ["mcp", "--root", root];
  if (profile !== undefined) args.push("--profile", profile);
  if (config !== undefined) args.push("--config", resolve(context.cwd, config));
  if (allowTokens !== undefined) args.push("--allow-tokens", String(allowTokens));
  if (allowIngest !== undefined) args.push("--allow-ingest", resolve(context.cwd, allowIngest));
  if (ccPairId !== undefined) args.push("--cc-pair-id", String(ccPairId));
  return { ...(clients[name].hasType ? { type: "stdio" as const } : {}), command: "knowctl", args };
}

/** Prints the entry for the configuration of a client. Throws as serveMcp(). */
export async function printConfig(
  context: Context,
  name: ClientName,
  flags: InstallFlags,
): Promise<void> {
  const output = createOutput(context, flags);
  const place = placeOf(context, name);
  await output.line(entryText(place, entryFor(context, name, flags)));
  await output.note(`for ${place.path}; \`knowctl mcp install ${name}\` adds it there`);
}

/** The text of a file; undefined for a missing one. Throws CliError `local`. */
function readIf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  refuseSpecial(path);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError("local", `cannot read ${path}: ${fileProblem(codeOf(error))}`, {
      cause: error,
    });
  }
}

/** The file as it was before the entry. */
const copyOf = (path: string): string => `${path}.before-knowctl`;

/** `mcp install`. Throws CliError `usage` as serveMcp(), `local` for a file that cannot be changed. */
export async function mcpInstall(
  context: Context,
  [client]: string[],
  flags: InstallFlags,
): Promise<void> {
  const name = client as ClientName;
  const place = placeOf(context, name);
  const entry = entryFor(context, name, flags);
  const output = createOutput(context, flags);
  const { title } = clients[name];
  await whileLocked(place.path, async () => {
    const text = readIf(place.path);
    const edited = edit(place, text ?? "", entry);
    if (edited === text) return await output.note(`${place.path} has this entry already`);
    const isNew = text !== undefined && entryIn(place, text) === undefined;
    if (isNew) writeWhole(copyOf(place.path), text);
    writeWhole(place.path, edited, { keepMode: true });
    return await output.note(`added knowctl to ${place.path}; restart ${title}`);
  });
}

/** `mcp uninstall`. Throws CliError `local` for a file that cannot be changed. */
export async function mcpUninstall(
  context: Context,
  [client]: string[],
  flags: GlobalFlags,
): Promise<void> {
  const place = placeOf(context, client as ClientName);
  const output = createOutput(context, flags);
  await whileLocked(place.path, async () => {
    const text = readIf(place.path);
    const entry = text === undefined ? undefined : entryIn(place, text);
    if (text === undefined || entry === undefined) {
      return await output.note(`${place.path} has no entry of knowctl`);
    }
    const copy = copyOf(place.path);
    const before = readIf(copy);
    // Nothing else changed since: the file becomes what it was, byte by byte.
    const isAsInstalled = edit(place, before ?? "", entry) === text;
    if (isAsInstalled && before === undefined) rmSync(place.path);
    else {
      const rest = isAsInstalled ? (before ?? "") : edit(place, text, undefined);
      writeWhole(place.path, rest, { keepMode: true });
    }
    rmSync(copy, { force: true });
    return await output.note(`removed knowctl from ${place.path}`);
  });
}
