import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { rememberNames } from "../../src/commands/completion/names.ts";
import { scripts } from "../../src/commands/completion/shells.ts";
import { patienceMs } from "../patience.ts";
import { follow } from "../ran.ts";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";

// Real shells on a terminal of their own: keys go in, and what the shell then runs says what it made
// of them. Where a shell is not installed its tests are skipped, and say so.

const has = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;
const hasScript = has("script", "-qec", "true", "/dev/null");

/** Names that a shell could act on; the first three letters are typed. */
const hostile = [
  `aa it's "quoted" twice's`,
  "ab $(touch CANARY) ${HOME} $HOME",
  "ac `touch CANARY`",
  "ad; touch CANARY & touch CANARY",
  "ae \\ back\\slash \\$(touch CANARY)",
  "af !! !touch !$ end!",
  "ag *?[a-z]{b,c}",
  "ah ~root #comment ~",
  "ai ünï – 漢字 🙂",
  "aj:colon=equals@at",
  "ak <in >CANARY |touch CANARY",
  "al %s ^caret^x^ %1",
  "am  two  spaces ",
  "an 'touch CANARY' \"$(touch CANARY)\" `",
  "ao (touch CANARY) && touch CANARY",
  "ap ends with '",
  'aq ends with "',
];
/** Names that no shell is given: they hold what ends a line or steers a terminal. */
const never = ["ba\ntouch CANARY", "bb\u001b[31m", "bc\u0007", "bd\u202e", "-be", "bf\u009b1m"];

interface Shell {
  /** Program and arguments that start it bare. */
  command: string;
  /** The lines that load the completion, for `probe` as well. */
  load: string;
}

const shells: Record<"bash" | "zsh" | "fish", Shell> = {
  bash: {
    command: "bash --norc --noprofile -i",
    load: "source <(knowctl completion bash); complete -F _knowctl_complete probe; PS1='ready> '",
  },
  zsh: {
    command: "zsh -f -i",
    load: "autoload -Uz compinit && compinit -u -D; source <(knowctl completion zsh); compdef _knowctl probe; unsetopt prompt_sp; PS1='ready> '",
  },
  fish: {
    command: "fish --no-config --private -i",
    load: "knowctl completion fish | source; complete -c probe -k -f -a '(__knowctl_complete)'; function fish_prompt; printf 'ready> '; end; function fish_right_prompt; end",
  },
};

const baseUrl = "https://assistant.example.com";
const owner = { config: { profile: "default" }, connection: { baseUrl } };

/** A folder with `knowctl` and `probe` on the PATH; `probe` notes its arguments. */
function prepare(): { folder: string; env: Record<string, string> } {
  const home = temporaryFolder();
  const [programs, folder] = [join(home, "bin"), join(home, "work")];
  for (const each of [programs, folder]) mkdirSync(each);
  symlinkSync(join(projectFolder, "bin", "knowctl.cjs"), join(programs, "knowctl"));
  const probe = `#!/bin/sh\nprintf '%s\\0' "$@" >> "$HOME/ran"; printf '\\1' >> "$HOME/ran"\n`;
  writeFileSync(join(programs, "probe"), probe);
  chmodSync(join(programs, "probe"), 0o755);
  const env = cleanEnvironment(home, { KNOWCTL_BASE_URL: baseUrl });
  env["PATH"] = `${programs}:${env["PATH"]}`;
  return { folder, env };
}

function openShell(name: keyof typeof shells, { folder, env }: ReturnType<typeof prepare>) {
  const { command, load } = shells[name];
  const child = spawn("script", ["-qec", `stty cols 200 rows 50; exec ${command}`, "/dev/null"], {
    cwd: folder,
    env: { ...env, TERM: "dumb", SHELL: "/bin/sh", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { stdout: screen } = follow(child, command, folder);
  const ran = join(env["HOME"]!, "ran");
  const runs = (): string[][] => {
    const whole = existsSync(ran) ? readFileSync(ran, "utf8").split("\u0001").slice(0, -1) : [];
    return whole.map((each) => each.split("\0").slice(0, -1));
  };
  const waitFor = (check: () => void): Promise<void> =>
    vi.waitFor(check, { timeout: patienceMs, interval: 20 });
  return {
    async ready() {
      child.stdin.write(`${load}\r`);
      await waitFor(() =>
        expect(screen().replaceAll(/\u001b\[[?\d;]*[A-Za-z]/g, "")).toMatch(/(?:^|[\r\n])ready> /),
      );
    },
    /** Types keys and Enter; gives the arguments that `probe` was run with. */
    async run(keys: string): Promise<string[]> {
      const before = runs().length;
      child.stdin.write(`${keys}\r`);
      await waitFor(() => expect(runs().length).toBeGreaterThan(before));
      return runs().at(-1)!;
    },
    async close() {
      child.stdin.write("exit\r");
      await waitFor(() => expect(child.exitCode).not.toBeNull());
    },
  };
}

describe.each(["bash", "zsh", "fish"] as const)("completion in %s", (name) => {
  const isThere = hasScript && has(name, "-c", "true");
  if (!isThere) console.warn(`${name} or script is not installed: its completion is not tested`);

  it.skipIf(!isThere)("inserts hostile names as they are, and nothing of them runs", async () => {
    const place = prepare();
    const names = [...hostile, ...never].map((each, id) => ({ id, name: each, text: "web" }));
    rememberNames({ env: place.env, now: Date.now }, "connectors", owner, names);
    const shell = openShell(name, place);
    await shell.ready();
    for (const each of hostile) {
      const word = each.slice(0, 2);
      const typed = `probe ingest --connector ${word}\t--connector "${word}\t--connector '${word}\t`;
      const flag = ["--connector", each];
      expect(await shell.run(typed)).toEqual(["ingest", ...flag, ...flag, ...flag]);
    }
    await shell.close();
    expect(existsSync(join(place.folder, "CANARY"))).toBe(false);
  });
});

it("has no script that repeats anything from outside", () => {
  for (const script of Object.values(scripts)) expect(script).toMatch(/^[\x20-\x7e\t\n]+$/);
});
