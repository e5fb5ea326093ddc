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

it("advises a longer --timeout only where it has an effect: the time for a connection is fixed", () => {
  const hintsOf = (code: string): string[] | undefined =>
    readFault(Object.assign(new Error(code), { code, syscall: "connect" }), true)?.hints;
  for (const code of ["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]) {
    expect(hintsOf(code)).toEqual([expect.stringContaining("reachable from here")]);
  }
  for (const code of ["HEADERS_TIMEOUT", "IDLE_TIMEOUT", "TOTAL_TIMEOUT"]) {
    expect(hintsOf(code)).toEqual(["a longer --timeout may help"]);
  }
});
