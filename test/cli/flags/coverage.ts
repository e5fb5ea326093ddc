import { api, connectors, mcp, program, sandbox, tryCases } from "./service.ts";
import type { Coverage } from "./play.ts";
import { chat, files, search, sessions } from "./ask.ts";
import { config, report, stateCases } from "./setup.ts";
import { doctor, evalCoverage, evalInit, evalRun, lint, verify } from "./check.ts";
import { statusCases, orphanCases, retryCases } from "./judging.ts";
import { ingest } from "./upload.ts";

/** What each flag of each command must be seen to do: a file for each group of commands. */
export const coverage: Coverage = {
  ...program,
  ...connectors,
  ...ingest,
  ...report,
  ...stateCases,
  ...chat,
  ...search,
  ...sessions,
  ...files,
  ...lint,
  ...verify,
  ...doctor,
  ...statusCases,
  ...orphanCases,
  ...retryCases,
  ...evalCoverage,
  ...evalInit,
  ...evalRun,
  ...api,
  ...sandbox,
  ...tryCases,
  ...config,
  ...mcp,
};
