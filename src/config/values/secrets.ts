import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { CliError, codeOf } from "../../errors.ts";
import { checkPrivate } from "../file/files.ts";
import { expandPath, isInside, type Machine } from "../find/folders.ts";
import type { Layer } from "./layers.ts";
import type { SecretMember } from "./members.ts";
import type { Secret } from "./schema.ts";

/** A key, or why there is none (which may be no error: the other key can serve). */
export type Resolved = { key: string } | { missing: string };

// A password manager may ask for a finger first.
const commandMs = 60_000;
const largestBytes = 64 * 1024;

/** A phrase may hold spaces and any letter: it meets no header. */
function presentPhrase(text: string | undefined, what: string): Resolved {
  const key = text?.replace(/[\r\n]+$/, "");
  if (!key) return { missing: text === undefined ? `${what} is not set` : `${what} is empty` };
  return { key };
}

// The scheme of the Authorization header, copied along with the key.
const scheme = /^(?:authorization:\s*)?bearer\s+/i;

/** The key behind a `Bearer `; undefined where it has no such prefix. */
export function keyWithoutScheme(key: string): string | undefined {
  return scheme.test(key) ? key.replace(scheme, "") : undefined;
}

function presentKey(text: string | undefined, what: string): Resolved {
  const key = text?.trim();
  if (!key) return { missing: text === undefined ? `${what} is not set` : `${what} is empty` };
  if (keyWithoutScheme(key) !== undefined) {
    throw new CliError(
      "not-configured",
      `${what} begins with "Bearer ", which is no part of the key`,
      { hints: ["write the key alone there; the tool adds the prefix itself"] },
    );
  }
  // Anything else cannot stand in a header, and the error of the HTTP layer would quote it.
  if (!/^[\u0021-\u007e]+$/.test(key)) {
    throw new CliError(
      "not-configured",
      `${what} holds characters that no key has (spaces, line breaks, …)`,
      {
        hints: ["store it again: knowctl login"],
      },
    );
  }
  return { key };
}

// A mounted secret (Kubernetes) is a link into its own folder; any other link is refused.
export function withoutOwnLink(path: string): string {
  if (!lstatSync(path).isSymbolicLink()) return path;
  const real = realpathSync(path);
  return isInside(realpathSync(dirname(path)), real) ? real : path;
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
    checkPrivate(withoutOwnLink(path), { uid: machine.uid, holdsKey: true, rootToo: true, warn });
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > largestBytes) {
      throw new CliError("not-configured", `${path} is no file with a key`);
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      "not-configured",
      `cannot read the key file ${path}: ${codeOf(error) ?? "unknown failure"}`,
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
      maxBuffer: largestBytes,
      windowsHide: true,
    };
    const child = execFile(program, args, options, (error, stdout) => {
      if (!error) return resolve(stdout);
      const why = error.killed
        ? `no answer in ${commandMs / 1000} s`
        : String(error.code ?? "unknown failure");
      // Neither its output nor the arguments: both may hold the key.
      reject(
        new CliError(
          "not-configured",
          `${where}: the command "${program}" that should print the key failed (${why})`,
          {
            hints: ["run it by hand to see what it says"],
          },
        ),
      );
    });
    child.stdin?.end();
  });
}

/**
 * Resolves one secret. `layer` is where it stands, `member` its name there.
 * Throws CliError `not-configured` for a reference that is broken; one that is
 * merely unset is `missing`.
 */
export async function resolveSecret(
  secret: Secret,
  member: SecretMember,
  layer: Layer,
  machine: Machine,
  warn: (message: string) => void,
): Promise<Resolved> {
  const where = layer.where([member]);
  const present = member === "clientKeyPassphrase" ? presentPhrase : presentKey;
  if (typeof secret === "string")
    return present(secret, layer.source === "env" ? where : `${member} (${where})`);
  if ("env" in secret)
    return present(machine.env[secret.env], `the variable ${secret.env} (${where})`);
  if ("file" in secret) {
    return present(
      readKeyFile(secret.file, where, layer, machine, warn),
      `the key file ${secret.file} (${where})`,
    );
  }
  if (layer.source !== "user") {
    throw new CliError(
      "not-configured",
      `${where}: a command that prints a key may stand in the user file only`,
      {
        hints: ["move the profile: knowctl config path shows your user file"],
      },
    );
  }
  return present(
    await runCommand(secret.command, where, layer, machine),
    `the output of "${secret.command[0]}"`,
  );
}
