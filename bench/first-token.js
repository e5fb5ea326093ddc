import { spawn } from "node:child_process";
import { figure, plainEnvironment } from "./pair.js";
import { startChatReceiver, withService } from "./service.js";

/** Milliseconds from the start of a process to its first byte on stdout, its last one, and its end. */
function timesOf({ args, env = {}, cwd }) {
  return new Promise((done, fail) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...plainEnvironment, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let first;
    let last;
    child.stdout.on("data", () => {
      last = performance.now();
      first ??= last;
    });
    child.on("error", fail);
    child.on("close", (code) => {
      if (code !== 0 || first === undefined)
        return fail(new Error(`${args[0]} ended with ${code}`));
      const endedAt = performance.now();
      done({ firstMs: first - startedAt, exitMs: endedAt - last });
    });
  });
}

const middle = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)], max: sorted.at(-1) };
};

/** `chat --live`: from the start of the process to the first text, against Node that writes a byte. */
export const firstTokenRow = {
  name: "first-token",
  run: ({ binary, folder }, runs = 31) =>
    withService(startChatReceiver(folder), async ({ env }) => {
      const subject = { args: [binary, "chat", "--live", "hi"], env, cwd: folder };
      const against = { args: ["-e", "process.stdout.write('x')"], cwd: folder };
      for (const each of [subject, against]) await timesOf(each);
      const pairs = [];
      for (let run = 0; run < Number(runs); run++) {
        pairs.push([await timesOf(subject), await timesOf(against)]);
      }
      const ratio = figure(middle(pairs.map(([a, b]) => a.firstMs / b.firstMs)), 2);
      const [ours, bare] = [0, 1].map((index) =>
        figure(middle(pairs.map((pair) => pair[index].firstMs)), 1),
      );
      const [exit, bareExit] = [0, 1].map((index) =>
        figure(middle(pairs.map((pair) => pair[index].exitMs)), 1),
      );
      return `${ratio} times Node that writes a byte, at most 4; ${ours} ms against ${bare} ms\nend ${exit} ms after the last byte, at most 20; bare Node ${bareExit} ms`;
    }),
};
