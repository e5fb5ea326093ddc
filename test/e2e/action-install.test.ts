import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeFiles } from "../service.ts";
import { projectFolder } from "../support.ts";
import { packSmall, scope, startRegistry } from "./package.ts";
import { runStep } from "./runner.ts";
import { preparePlace, type Place } from "./shell.ts";

const install = (inputs: Record<string, string>, place: Place) =>
  runStep("Install knowctl", inputs, place);

/** Runs `script` in place of npm, and writes down the arguments of each call. */
function replaceNpm(place: Place, script = ""): () => string[] {
  const programs = join(place.folder, "..", "programs");
  mkdirSync(programs);
  writeFiles(programs, { npm: `#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/npm"\n${script}` });
  chmodSync(join(programs, "npm"), 0o755);
  place.env["PATH"] = `${programs}:${place.env["PATH"]}`;
  const calls = join(place.folder, "..", "runner", "npm");
  return () => (existsSync(calls) ? readFileSync(calls, "utf8").trimEnd().split("\n") : []);
}

function expectNoCanary(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.includes("canary"))).toEqual([]);
}

describe.runIf(process.platform !== "win32")("the action's installation", () => {
  it("builds the checkout by default, and asks no registry for knowctl", async () => {
    const place = await preparePlace();
    const modules = join(projectFolder, "node_modules");
    // A folder of its own, as npm makes one: no clone may install into the modules of another.
    const calls = replaceNpm(
      place,
      `mkdir node_modules && ln -s '${modules}'/* '${modules}'/.bin node_modules/ &&
touch node_modules/.package-lock.json\n`,
    );
    const built = await install({}, place);
    expect(built, built.stderr).toMatchObject({ code: 0 });
    expect(new Set(calls().map((call) => call.split(" ")[0]))).toEqual(new Set(["ci"]));
    expect(calls().join(" ")).not.toContain("knowctl");
    const inputs = { paths: "docs", "cc-pair-id": "2" };
    const ran = await runStep("Upload", inputs, place);
    expect(ran, ran.stderr).toMatchObject({ code: 0, outputs: { created: "6" } });
  });

  it("says that knowctl is not published where its source is not beside the action", async () => {
    const place = await preparePlace();
    const calls = replaceNpm(place);
    const copied = join(place.folder, ".github", "actions", "ingest");
    mkdirSync(copied, { recursive: true });
    for (const name of ["action.yml", "install.sh", "ingest.js"]) {
      copyFileSync(join(projectFolder, ".github/actions/ingest", name), join(copied, name));
    }
    const { code, stdout } = await runStep("Install knowctl", {}, place, copied);
    expect({ code, calls: calls() }).toEqual({ code: 2, calls: [] });
    expect(stdout).toBe(
      "::error title=knowctl action::knowctl is not published, and its source is not beside this action; give the input tarball, or scope and registry\n",
    );
  });

  it("installs a tarball of the workspace, which the next step runs", async () => {
    const place = await preparePlace();
    mkdirSync(join(place.folder, "a b"));
    copyFileSync(packSmall().path, join(place.folder, "a b", "#1 $(touch canary).tgz"));
    const installed = await install({ tarball: "a b/#1 $(touch canary).tgz" }, place);
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
    const { code, stdout } = await runStep("Upload", { paths: "docs" }, place);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^small knowctl: ingest .*-- \.\/docs\n$/),
    });
    expect(existsSync(join(place.folder, "canary"))).toBe(false);
  });

  it("installs a scope from its registry", async () => {
    const place = await preparePlace();
    const name = `${scope}/knowctl`;
    const { url, version, requests } = await startRegistry(name);
    const installed = await install({ registry: `${url}/`, version, scope }, place);
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
    expect(requests).toEqual([`/${name}`, "/knowctl.tgz"]);
    const { stdout } = await runStep("Upload", {}, place);
    expect(stdout).toContain("small knowctl: ingest");
  });

  it("asks only the named registry, whatever the runner's folders and variables say", async () => {
    const place = await preparePlace();
    const { url, version } = await startRegistry(`${scope}/knowctl`);
    const other = await startRegistry("other");
    place.env["npm_config_registry"] = other.url;
    writeFiles(join(place.folder, "..", "runner"), { "package.json": '{"name":"other"}' });
    const installed = await install({ registry: url, version, scope }, place);
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
    expect(other.requests).toEqual([]);
    const { stdout } = await runStep("Upload", {}, place);
    expect(stdout).toContain("small knowctl: ingest");
  });

  it("installs into its own place where a folder above has a package", async () => {
    const place = await preparePlace();
    const above = join(place.folder, "..", "runner");
    writeFiles(above, { "package.json": '{"name":"other"}' });
    copyFileSync(packSmall().path, join(place.folder, "a.tgz"));
    const installed = await install({ tarball: "a.tgz" }, place);
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
    expect(existsSync(join(above, "node_modules"))).toBe(false);
    expect((await runStep("Upload", {}, place)).stdout).toContain("small knowctl: ingest");
  });

  it("takes the action's own version of a scope, from the registry that npm uses", async () => {
    const place = await preparePlace();
    const calls = replaceNpm(place);
    expect(await install({ scope: "@your-org" }, place)).toMatchObject({ code: 0 });
    const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
    expect(calls()).toEqual([expect.stringMatching(/ knowctl@npm:@your-org\/knowctl@[\d.]+$/)]);
    expect(calls()[0]!.endsWith(`@${version}`)).toBe(true);
    expect(existsSync(join(place.folder, "..", "runner", "knowctl", ".npmrc"))).toBe(false);
  });

  const bare = "the bare name knowctl is not installed from a registry; give the input scope";
  const refused: [Record<string, string>, string][] = [
    [{ version: "0.1.0" }, bare],
    [{ registry: "https://a.example:99999/" }, "input registry: expected an https address"],
    [{ registry: "https://me:secret@a.example/" }, "input registry: expected an https address"],
    [{ registry: "https://packages.example/", version: "1.2.3" }, bare],
    [{ registry: "https://packages.example/" }, bare],
    [{ registry: "http://registry.example" }, "input registry: expected an https address"],
    [
      { registry: "https://a.example\n//b.example/:_authToken=x" },
      "input registry: expected an https address",
    ],
    [{ scope: "acme" }, "input scope: expected an npm scope such as @your-org"],
    [{ scope: "@a/../x" }, "input scope: expected an npm scope such as @your-org"],
    [{ scope: "@a\n@b" }, "input scope: expected an npm scope such as @your-org"],
    [
      { tarball: "knowctl" },
      "input tarball: expected a file or an https address that ends with .tgz",
    ],
    [{ tarball: "none.tgz" }, "input tarball: no such file in the workspace"],
    [{ tarball: "a.tgz", scope: "@a" }, "input tarball excludes registry, scope and version"],
    ...["--global", "$(touch canary)", "1.0.0 evil", "1;touch canary", "/x", "1\n2"].map(
      (version): [Record<string, string>, string] => [
        { version, scope: "@a" },
        "input version: expected a version such as 0.1.0",
      ],
    ),
  ];
  it.each(refused)("refuses %j without repeating it or running npm", async (inputs, message) => {
    const place = await preparePlace();
    const calls = replaceNpm(place);
    const { code, stdout } = await install(inputs, place);
    expect({ code, calls: calls() }).toEqual({ code: 2, calls: [] });
    expect(stdout).toBe(`::error title=knowctl action::${message}\n`);
    expectNoCanary(place.folder);
  });
});
