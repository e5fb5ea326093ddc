import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder with certificates; each member is a path. */
export interface Authority {
  folder: string;
  path(name: string): string;
  read(name: string): string;
  /** Makes `name.crt` and `name.key`, signed by `ca.crt`. `names` as OpenSSL writes them: `DNS:a`, `IP:::1`. */
  certify(name: string, names: string, days?: string): void;
  openssl(...args: string[]): void;
}

/** An authority of its own, `ca.crt`; removed when the tests of the file are done. */
export function createAuthority(commonName = "Test CA"): Authority {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-ca-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const made = (name: string): string[] => ["-keyout", `${name}.key`, "-out"];
  openssl(
    "req",
    "-x509",
    ...newKey,
    ...made("ca"),
    "ca.crt",
    "-days",
    "2",
    "-subj",
    `/CN=${commonName}`,
  );
  return {
    folder,
    openssl,
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), "utf8"),
    certify(name, names, days = "2") {
      const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`];
      openssl("req", ...newKey, ...made(name), `${name}.csr`, ...subject);
      const by = [
        "-CA",
        "ca.crt",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-copy_extensions",
        "copy",
      ];
      openssl("x509", "-req", "-in", `${name}.csr`, ...by, "-out", `${name}.crt`, "-days", days);
    },
  };
}
