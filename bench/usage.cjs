// Preloaded into a measured process: tells on file descriptor 3 its peak memory in KiB and the CPU time
// (user and system, all threads) that it has used, in microseconds.
const { readFileSync, writeSync } = require("node:fs");
const { isMainThread } = require("node:worker_threads");

function peakKib() {
  try {
    // Of this program alone; what getrusage tells begins with the memory of the process that started it.
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}

// Worker threads inherit the preload, but not what it is for.
if (isMainThread) {
  process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    writeSync(3, JSON.stringify({ peakKib: peakKib(), cpuUs: user + system }));
  });
}
