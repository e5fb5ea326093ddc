import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ClientCertificate } from "../api/transport/connector.ts";
import type { Network } from "../config/values/connection.ts";
import type { Context } from "../context.ts";
import { CliError, codeOf, fileProblem } from "../errors.ts";

/** PEM texts for TLS. */
export interface Certificates {
  /** Authorities that are trusted in addition to the built-in ones. */
  ca?: string;
  /** The client's own certificate and key. */
  client?: ClientCertificate;
}

function read(path: string, what: string, hint: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(
      "not-configured",
      `cannot read ${what} ${path}: ${fileProblem(codeOf(error))}`,
      { hints: [hint], cause: error },
    );
  }
}

const pemBlock = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END [A-Z0-9 ]+-----/g;

/** Parses every certificate of a PEM file. Throws CliError `not-configured`. */
async function certificatesIn(text: string, path: string, what: string) {
  const { X509Certificate } = await import("node:crypto");
  const refuse = (message: string, ...hints: string[]): CliError =>
    new CliError("not-configured", `${what} ${path} ${message}`, { hints });
  const blocks = text.match(pemBlock) ?? [];
  if (blocks.length === 0) {
    throw refuse(
      "holds no certificate in PEM form",
      `convert it to PEM: openssl x509 -inform der -in ${path}`,
    );
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      const which = `certificate ${index + 1} of ${blocks.length}`;
      throw refuse(`cannot be used: ${which} is damaged`, "copy the whole file again");
    }
  });
}

/**
 * The certificates of caFile and of NODE_EXTRA_CA_CERTS. Node ignores the latter
 * once other authorities are set. A proxy may need one file, the service the other.
 */
async function readCa(caFile: string, { env, cwd }: Context): Promise<string> {
  const given = read(caFile, "the CA file", "check --ca-file or caFile in the configuration");
  await certificatesIn(given, caFile, "the CA file");
  const extra = env["NODE_EXTRA_CA_CERTS"];
  if (!extra) return given;
  try {
    return `${given}\n${readFileSync(resolve(cwd, extra), "utf8")}`;
  } catch {
    // Loading the configuration has already warned about this file.
    return given;
  }
}

const encryptedKey = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

function keyProblem(code: string, key: string, path: string, hasPassphrase: boolean): CliError {
  const refuse = (message: string, hint: string): CliError =>
    new CliError("not-configured", `the client key ${path} ${message}`, { hints: [hint] });
  const where = "KNOWCTL_CLIENT_KEY_PASSPHRASE, or clientKeyPassphrase in the profile";
  // For one form of key, OpenSSL 3 reports a missing passphrase as an interrupted prompt.
  if (code === "ERR_MISSING_PASSPHRASE" || (!hasPassphrase && code.includes("INTERRUPTED")))
    return refuse("needs a passphrase", `set ${where}`);
  // In about 1 of 200 cases a wrong passphrase decrypts the key to valid padding. Then OpenSSL
  // reports a wrong key form, so its code does not identify the cause.
  if (hasPassphrase && encryptedKey.test(key)) {
    return refuse(
      "does not open with this passphrase",
      `check ${where}; if it is right, the file is damaged`,
    );
  }
  return refuse(
    `holds no private key in PEM form (${code})`,
    "convert a .p12 or .pfx file: openssl pkcs12 -in FILE -out client.pem",
  );
}

async function readClient(
  {
    clientCert: path,
    clientKey,
    clientKeyPassphrase: passphrase,
  }: Network & { clientCert: string },
  context: Context,
  warn: (message: string) => void,
): Promise<ClientCertificate> {
  const keyPath = clientKey ?? path;
  const hint = "check --client-cert and --client-key";
  const cert = read(path, "the client certificate", hint);
  const key = keyPath === path ? cert : read(keyPath, "the client key", hint);
  const [own] = await certificatesIn(cert, path, "the client certificate");
  const { createPrivateKey } = await import("node:crypto");
  let parsed: ReturnType<typeof createPrivateKey>;
  try {
    parsed = createPrivateKey({ key, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    throw keyProblem(codeOf(error) ?? "unknown form", key, keyPath, passphrase !== undefined);
  }
  if (own && !own.checkPrivateKey(parsed)) {
    throw new CliError(
      "not-configured",
      `the client key ${keyPath} does not belong to the certificate ${path}`,
      {
        hints: ["use a matching pair; the client's own certificate must be the first in its file"],
      },
    );
  }
  if (own && Date.parse(own.validTo) < context.now()) {
    warn(`the client certificate ${path} expired on ${own.validTo}`);
  }
  return { cert, key, passphrase };
}

/**
 * Reads and checks the files that a connection names. Throws CliError
 * `not-configured` for a file that cannot be used. Errors quote no part of a key.
 */
export async function readCertificates(
  network: Network,
  context: Context,
  warn: (message: string) => void,
): Promise<Certificates> {
  const { caFile, clientCert } = network;
  return {
    ...(caFile === undefined ? {} : { ca: await readCa(caFile, context) }),
    ...(clientCert === undefined
      ? {}
      : { client: await readClient({ ...network, clientCert }, context, warn) }),
  };
}
