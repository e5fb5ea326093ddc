import { readFileSync, statSync } from "node:fs";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { checkPrivate } from "../file/files.ts";
import { expandPath, type Machine } from "../find/folders.ts";
import type { Layer } from "./layers.ts";
import type { SecretMember } from "./members.ts";
import type { Secret } from "./schema.ts";

/** A key, or why it is missing. A missing key is no error if the other key is set. */
export type Resolved = { key: string } | { missing: string };

// A password manager may first ask for a fingerprint.
const commandMs = 60_000;
const maxBytes = 64 * 1024;

/** A passphrase may hold any character: no header carries it. */
function checkPassphrase(text: string | undefined, what: string): Resolved {
  const key = text?.replace(/[\r\n]+$/, "");
  if (!key) return { missing: text === undefined ? `${what} is not set` : `${what} is empty` };
  return { key };
}

// The scheme of the Authorization header, copied along with the key.
const scheme = /^(?:authorization:\s*)?bearer\s+/i;

/** The key after `Bearer `; undefined if the text has no such prefix. */
export function keyWithoutScheme(key: string): string | undefined {
  return scheme.test(key) ? key.replace(scheme, "") : undefined;
}

/** A header may hold spaces and a scheme. */
function checkHeader(text: string | undefined, what: string): Resolved {
  const key = text?.trim();
  if (!key) return { missing: text === undefined ? `${what} is not set` : `${what} is empty` };
  if (!/^[\t\u0020-\u007e]+$/.test(key)) {
    throw new CliError(
      "not-configured",
      `${what} holds characters that a header cannot have (line breaks, …)`,
      { hints: ["write printable ASCII on one line"] },
    );
  }
  return { key };
}

function checkKey(text: string | undefined, what: string): Resolved {
  const key = text?.trim();
  if (!key) return { missing: text === undefined ? `${what} is not set` : `${what} is empty` };
  if (keyWithoutScheme(key) !== undefined) {
    throw new CliError(
      "not-configured",
      `${what} begins with "Bearer ", which is not part of the key`,
      { hints: ["store only the key; the tool adds the prefix"] },
    );
  }
  // A header cannot hold other characters, and the error of the HTTP layer would quote the key.
  if (!/^[\u0021-\u007e]+$/.test(key)) {
    throw new CliError(
      "not-configured",
      `${what} holds characters that a key cannot have (spaces, line breaks, …)`,
      {
        hints: ["store it again: knowctl login"],
      },
    );
  }
  return { key };
}

function readKeyFile(
  given: string,
  where: string,
  layer: Layer,
  machine: Machine,
  warn: (message: string) => void,
): string {
  const path = expandPath(given, layer.folder, machine.home);
  try {
    checkPrivate(path, { uid: machine.uid, holdsKey: true, rootToo: true, warn });
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxBytes) {
      throw new CliError(
        "not-configured",
        `${path} is not a key file: it must be a regular file of at most 64 KiB`,
      );
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      "not-configured",
      `cannot read the key file ${path}: ${fileProblem(codeOf(error))}`,
      { hints: [`it is named at ${where}`] },
    );
  }
}

async function runCommand(
  command: readonly string[],
  where: string,
  layer: Layer,
  machine: Machine,
): Promise<string> {
  const [program = "", ...args] = command;
  const { execFile } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const options = {
      cwd: layer.folder,
      env: machine.env,
      timeout: commandMs,
      maxBuffer: maxBytes,
      windowsHide: true,
    };
    const child = execFile(program, args, options, (error, stdout) => {
      if (!error) return resolve(stdout);
      const why = error.killed
        ? `timeout after ${commandMs / 1000} s`
        : fileProblem(String(error.code ?? "unknown failure"));
      // The message omits output and arguments: both may hold the key.
      reject(
        new CliError(
          "not-configured",
          `${where}: the command "${program}" that should print the key failed (${why})`,
          {
            hints: ["run it by hand to see its output"],
          },
        ),
      );
    });
    child.stdin?.end();
  });
}

/**
 * Resolves one secret: the member at `path` of `layer`. Throws CliError `not-configured`
 * for a broken reference; an unset one returns `missing`.
 */
export async function resolveSecret(
  secret: Secret,
  path: readonly [SecretMember] | readonly ["headers", string],
  layer: Layer,
  machine: Machine,
  warn: (message: string) => void,
): Promise<Resolved> {
  const where = layer.where([...path]);
  const [kind] = path;
  const check =
    kind === "headers" ? checkHeader : kind === "clientKeyPassphrase" ? checkPassphrase : checkKey;
  if (typeof secret === "string")
    return check(secret, layer.source === "env" ? where : `${path.join(".")} (${where})`);
  if ("env" in secret)
    return check(machine.env[secret.env], `the variable ${secret.env} (${where})`);
  if ("file" in secret) {
    return check(
      readKeyFile(secret.file, where, layer, machine, warn),
      `the key file ${secret.file} (${where})`,
    );
  }
  if (layer.source !== "user") {
    throw new CliError(
      "not-configured",
      `${where}: a command that prints a key is allowed in the user file only`,
      {
        hints: ["move the profile to your user file: knowctl config path shows its path"],
      },
    );
  }
  return check(
    await runCommand(secret.command, where, layer, machine),
    `the output of "${secret.command[0]}"`,
  );
}
