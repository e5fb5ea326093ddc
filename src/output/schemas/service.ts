// The JSON of the commands that ask the service: connectors and doctor.
import * as z from "zod/mini";
import { exitCodes, type ExitName } from "../../errors.ts";
import { described, text, textOrNull, titled } from "./describe.ts";

const numberOrNull = (description: string) => described(z.nullable(z.int()), description);

const ConnectorStatus = z.strictObject({
  ccPairId: numberOrNull("id of the connector/credential pair"),
  name: textOrNull("name of the connector"),
  source: textOrNull("source type, for example web; ingestion_api for uploads"),
  state: textOrNull(
    "indexing during a run, failing after several failed runs, else the service's own word in lower case: scheduled, initial_indexing, active, paused, deleting or invalid",
  ),
  accessType: textOrNull("public, private or sync"),
  documents: numberOrNull("documents that were indexed at least once"),
  errors: numberOrNull("documents that the runs could not index until now; uploads leave none"),
  lastSuccessAt: textOrNull("time of the last successful run; uploads are no runs"),
  lastAttemptAt: textOrNull("start of the last run"),
  queue: numberOrNull("documents whose last change waits for the index; only of named connectors"),
  readers: text("who can read the documents"),
});

const ConnectorError = z.strictObject({
  ccPairId: z.int().check(z.describe("id of the connector/credential pair")),
  id: textOrNull("id of the document, or of a larger unit that failed"),
  link: textOrNull("address of the document"),
  reason: textOrNull("the service's own words"),
  failedAt: textOrNull("time of the failure"),
  resolved: described(z.nullable(z.boolean()), "whether a later run has indexed the document"),
});

export const ConnectorsStatus = titled(
  z.array(ConnectorStatus),
  "knowctl connector status",
  "Output of `knowctl connectors status --output json`; a line of --output ndjson is one item. " +
    "Null: the service does not report it, or there is none. With --watch, a line of ndjson also " +
    "has `event` (listed, added, changed or removed) and `event_time`.",
);

export const ConnectorsErrors = titled(
  z.array(ConnectorError),
  "knowctl connector errors",
  "Output of `knowctl connectors errors --output json`; a line of --output ndjson is one item.",
);

const milliseconds = (description: string) => z.number().check(z.describe(description));

const finding = z.strictObject({
  check: text("name of the check"),
  status: described(z.enum(["ok", "warning", "failure", "skipped"]), "result of the check"),
  message: text("what was found, on one line"),
  fixes: z.array(z.string()).check(z.describe("steps that solve the problem")),
  details: z.array(z.string()).check(z.describe("evidence for the message")),
  because: z.optional(text("of a skipped check: the failed check that it depends on")),
  ms: milliseconds("duration, in milliseconds"),
});

const value = z.strictObject({
  key: text("configuration key"),
  value: described(z.unknown(), "value in effect; secrets are masked"),
  source: text("flag, env, project, user or default"),
  where: text("flag, variable or file:line that sets it"),
  overrides: z
    .array(z.strictObject({ source: z.string(), where: z.string() }))
    .check(z.describe("places whose value it overrides")),
});

const request = z.strictObject({
  method: z.string(),
  url: text("address, without secrets"),
  key: described(z.enum(["accessToken", "apiKey", "none"]), "key that was sent"),
  status: z.optional(z.int().check(z.describe("HTTP status"))),
  code: z.optional(text("code of the connection error")),
  contentType: z.optional(z.string()),
  server: z.optional(z.string()),
  ms: milliseconds("duration, in milliseconds"),
});

const failures = z.strictObject({
  httpStatus: described(z.nullable(z.int()), "HTTP status; null for a local failure"),
  retryable: described(z.boolean(), "whether a retry without changes may succeed"),
  count: z.int(),
  last: text("time of the newest failure, UTC"),
});

export const DoctorReport = titled(
  z.strictObject({
    version: described(z.literal(1), "version of this format"),
    at: text("time of the run, UTC"),
    tool: z.strictObject({ name: z.string(), version: z.string() }),
    node: text("version of Node"),
    system: text("operating system"),
    status: described(z.enum(["ok", "warning", "failure"]), "the worst status of a check"),
    exit: z.strictObject({
      name: described(z.enum(Object.keys(exitCodes) as ExitName[]), "name of the exit code"),
      code: z.int(),
    }),
    counts: z.strictObject({ ok: z.int(), warning: z.int(), failure: z.int(), skipped: z.int() }),
    service: z.strictObject({
      baseUrl: textOrNull("address of the service"),
      dialect: textOrNull("standard or onyx"),
      version: textOrNull("version that the service reports"),
    }),
    checks: z.array(finding).check(z.describe("every check, in order")),
    configuration: z.array(value).check(z.describe("every value in effect")),
    failures: z.array(failures).check(z.describe("recorded upload failures, by kind")),
    requests: z.array(request).check(z.describe("every request, without key and body")),
  }),
  "knowctl doctor report",
  "Report of `knowctl doctor --output json`.",
);
