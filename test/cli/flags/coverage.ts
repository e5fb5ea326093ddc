import { api } from "./api.ts";
import type { Coverage } from "./case.ts";
import { chat } from "./chat.ts";
import { config } from "./config.ts";
import { connectors } from "./connectors.ts";
import { doctor } from "./doctor.ts";
import { statusCases } from "./status.ts";
import { evalInit } from "./eval-init.ts";
import { evalRun } from "./eval-run.ts";
import { files } from "./files.ts";
import { ingest } from "./ingest.ts";
import { lint } from "./lint.ts";
import { program } from "./program.ts";
import { report } from "./report.ts";
import { sandbox } from "./sandbox.ts";
import { search } from "./search.ts";
import { sessions } from "./sessions.ts";
import { stateCases } from "./state.ts";
import { verify } from "./verify.ts";
import { tryCases } from "./try.ts";

/** What each flag of each command must be seen to do: one file for each first word. */
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
  ...evalInit,
  ...evalRun,
  ...api,
  ...sandbox,
  ...tryCases,
  ...config,
};
