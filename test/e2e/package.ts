import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { writeFiles } from "../service.ts";
import { temporaryFolder } from "../support.ts";

/** Scope of the small package that stands for a published knowctl. */
export const scope = "@acme";
const version = "9.9.9";

let packed: Buffer | undefined;

/** A packed package `@acme/knowctl` whose program prints its arguments. */
export function packSmall(): { path: string; bytes: Buffer } {
  const folder = temporaryFolder();
  const path = join(folder, `acme-knowctl-${version}.tgz`);
  if (packed === undefined) {
    pack(folder, path);
    packed = readFileSync(path);
  } else writeFileSync(path, packed);
  return { path, bytes: packed };
}

/** As `npm pack` packs: all files below the folder `package`. npm itself takes a second for it. */
function pack(folder: string, path: string): void {
  const name = `${scope}/knowctl`;
  const manifest = { name, version, bin: { knowctl: "bin/knowctl.cjs" }, files: ["bin"] };
  writeFiles(join(folder, "package"), {
    "package.json": JSON.stringify(manifest),
    "bin/knowctl.cjs":
      '#!/usr/bin/env node\nconsole.log(`small knowctl: ${process.argv.slice(2).join(" ")}`);\n',
  });
  execFileSync("tar", ["-czf", path, "package"], { cwd: folder, stdio: "pipe" });
}

/** A registry on loopback that has that package under a name; it closes when the test ends. */
export async function startRegistry(
  name: string,
): Promise<{ url: string; version: string; requests: string[] }> {
  const { bytes } = packSmall();
  const requests: string[] = [];
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!);
    requests.push(path);
    if (path === "/knowctl.tgz") return void response.end(bytes);
    if (path !== `/${name}`) return void response.writeHead(404).end("{}");
    const dist = { tarball: `${url}/knowctl.tgz`, integrity };
    const manifest = { name, version, bin: { knowctl: "bin/knowctl.cjs" }, dist };
    response.end(
      JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: manifest } }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, version, requests };
}
