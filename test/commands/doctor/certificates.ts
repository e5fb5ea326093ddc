import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A CA of the test in a folder, and certificates that it signs. */
export interface Authority {
  /** Path of the CA's certificate. */
  caFile: string;
  /** Makes key and certificate for names; times as `YYYYMMDDHHMMSSZ`. */
  certify(name: string, names: string, from?: string, to?: string): { key: string; cert: string };
  /** As certify(), signed by nobody else. */
  signItself(name: string): { key: string; cert: string };
}

const configuration = `[ca]
default_ca = own
[own]
dir = .
new_certs_dir = .
database = index.txt
serial = serial
certificate = ca.crt
private_key = ca.key
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
`;

export function stamp(ms: number): string {
  return `${new Date(ms).toISOString().replace(/\D/g, "").slice(0, 14)}Z`;
}

const dayMs = 86_400_000;

export function createAuthority(folder: string): Authority {
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  };
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  // A key of RSA takes many times as long to make; test/commands/connect.test.ts has some.
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  writeFileSync(join(folder, "ca.cnf"), configuration);
  writeFileSync(join(folder, "index.txt"), "");
  writeFileSync(join(folder, "serial"), "01\n");
  const caOut = ["-keyout", "ca.key", "-out", "ca.crt", "-days", "400", "-subj", "/CN=Test CA"];
  openssl("req", "-x509", ...newKey, ...caOut);
  return {
    caFile: join(folder, "ca.crt"),
    certify(name, names, from = stamp(Date.now() - dayMs), to = stamp(Date.now() + 90 * dayMs)) {
      const subject = ["-subj", "/CN=test", "-addext", `subjectAltName=${names}`];
      openssl("req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, ...subject);
      const times = ["-startdate", from, "-enddate", to];
      const files = ["-in", `${name}.csr`, "-out", `${name}.crt`];
      openssl("ca", "-batch", "-config", "ca.cnf", "-notext", ...times, ...files);
      return { key: read(`${name}.key`), cert: read(`${name}.crt`) };
    },
    signItself(name) {
      const out = ["-keyout", `${name}.key`, "-out", `${name}.crt`, "-days", "90"];
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
      openssl("req", "-x509", ...newKey, ...out, ...subject);
      return { key: read(`${name}.key`), cert: read(`${name}.crt`) };
    },
  };
}
