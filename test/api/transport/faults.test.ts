import { expect, it } from "vitest";
import { readFault } from "../../../src/api/transport/faults.ts";

it.each(["EMFILE", "ENFILE"])("%s ends the run: no later attempt would find more", (code) => {
  const error = Object.assign(new Error(`connect ${code}`), { code, syscall: "connect" });
  for (const unsent of [true, false]) {
    expect(readFault(error, unsent)).toMatchObject({
      kind: "fatal",
      exit: "local",
      words: "too many open files",
      hints: [expect.stringContaining("ulimit -n")],
    });
  }
});
