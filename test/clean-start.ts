// Test files share a process: what one of them leaves behind would break another one, far away.
const shared = globalThis as { cleanStart?: Record<string, unknown> };
const found = {
  setTimeout,
  setInterval,
  setImmediate,
  Date,
  performance,
  folder: process.cwd(),
};
shared.cleanStart ??= found;
for (const [name, value] of Object.entries(found)) {
  if (shared.cleanStart[name] === value) continue;
  throw new Error(`an earlier test file in this process has changed ${name} and not put it back`);
}
