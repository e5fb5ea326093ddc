// Lets the disk fail at each system call that saves something: what is said, and what the next run makes of it.
import { casesNamed, inParallel, randomOf, shuffled } from "./program.js";
import { heal, makeWorld, scenarios } from "./scenarios.js";
import { runTraced, savingPlaces, traceProblem } from "./trace.js";

const space = ["ENOSPC", "EIO"];
const errorsOf = {
  openat: ["ENOSPC", "EIO", "EROFS", "EMFILE"],
  mkdir: ["ENOSPC", "EROFS"],
  write: space,
  pwrite64: space,
  fsync: space,
  fdatasync: space,
  ftruncate: space,
  fchmod: ["EIO", "EROFS"],
  rename: [...space, "EROFS"],
  unlink: ["EIO", "EROFS"],
};
/** A disk stays full. Writes to streams and opening of modules must go on, so that there are words. */
const lasting = ["pwrite64", "fsync", "ftruncate"];

/** Every case of a scenario: how its undisturbed calls can fail, as strace names it. */
async function diskCases(name, random) {
  return (await savingPlaces(name, random)).flatMap(({ call, at }) =>
    errorsOf[call].flatMap((error) => {
      const once = { name, inject: `${call}:error=${error}:when=${at}` };
      return lasting.includes(call) ? [once, { name, inject: `${once.inject}+` }] : [once];
    }),
  );
}

const words =
  /disk|space|room|read-only|too many open files|I\/O|full|cannot (?:write|save|open|make)|no longer be read/i;

/** What is wrong with how a disturbed command ended. */
function endProblem(name, { code, signal, stderr, hung }) {
  if (hung) return "it did not end";
  // A fault that costs nothing, as of a file that is removed anyway, may pass: the check after it looks.
  if (code === 0) return undefined;
  const right = name === "lint --fix" ? [10, 14] : [14];
  if (!right.includes(code)) return `it ended with ${code ?? signal}: ${stderr.slice(-600)}`;
  return words.test(stderr) ? undefined : `no cause is named: ${stderr.slice(-600)}`;
}

/** Plays a case in a world. Resolves with what is wrong, or undefined; `reached`: a call that saves failed. */
async function playDisk(world, { name, inject }) {
  const scenario = scenarios[name];
  const ran = await runTraced(world, await scenario.prepare(world), inject);
  const failed = ran.log.split("\n").filter((line) => line.includes("(INJECTED)"));
  // Modules are loaded while files are read, in any order: then this number is that of a call that reads.
  const reached = failed.some((line) => !line.includes("O_RDONLY"));
  const problem = failed.length > 0 && !reached ? undefined : endProblem(name, ran);
  return { reached, problem: problem ?? (await heal(world, scenario)) };
}

const nameOf = ({ name, inject }) => `${name} ${inject}`;

/** Lets calls fail, in a random order, until all did or the time is over. */
export async function diskPart({ seconds, seed, case: only }) {
  const missing = traceProblem();
  if (missing) return { skipped: missing };
  const random = randomOf(seed);
  const end = performance.now() + seconds * 1000;
  const lists = await Promise.all(Object.keys(scenarios).map((name) => diskCases(name, random)));
  const all = shuffled(lists.flat(), random);
  const cases = casesNamed(all, nameOf, only);
  const violated = [];
  let reached = 0;
  let next = 0;
  const worker = async () => {
    let world = await makeWorld(random);
    while (next < cases.length && performance.now() < end && violated.length < 10) {
      const each = cases[next++];
      const result = await playDisk(world, each).catch((error) => ({ problem: error.stack }));
      if (result.reached) reached++;
      if (result.problem === undefined) continue;
      const named = nameOf(each);
      const replay = `npm run prove -- disk --seed ${seed} --case "${named}"`;
      violated.push({ what: `${named}: ${result.problem}`, replay });
      world.close();
      world = await makeWorld(random);
    }
    world.close();
  };
  await inParallel([1, 2, 3], { seconds, workers: 3 }, worker);
  const names = Object.keys(scenarios).join(", ");
  return {
    tried: [
      `${reached} faults at ${cases.length} places of the calls that save, of ${names} (ENOSPC, EIO, EROFS, EMFILE; once, and from there on)`,
    ],
    held: [
      "each command ended with exit 14 and named the cause, or the fault cost nothing",
      "the state was readable, the next run went on, and nothing was lost or recorded that the service does not hold",
    ],
    violated,
  };
}
