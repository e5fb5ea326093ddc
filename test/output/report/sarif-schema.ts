import * as z from "zod/mini";

// What SARIF 2.1.0 says of the objects that the report contains, written from the standard
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html). Strict, as the official JSON
// Schema is: a member that it does not know is an error.
const level = z.enum(["none", "note", "warning", "error"]);
const position = z.int().check(z.minimum(1));
const message = z.strictObject({ text: z.string().check(z.minLength(1)) });
const multiformat = z.strictObject({ text: z.string(), markdown: z.optional(z.string()) });
const properties = z.strictObject({ tags: z.array(z.string()) });

// A URI reference (RFC 3986): no characters but these, and each % begins a code of two digits.
const reference = z
  .string()
  .check(z.regex(/^(?:[\w.~!$&'()*+,;=:@/?#[\]-]|%[0-9A-F]{2})+$/i, "no URI reference"));

const descriptor = z.strictObject({
  id: z.string().check(z.minLength(1)),
  shortDescription: z.optional(multiformat),
  fullDescription: z.optional(multiformat),
  help: z.optional(multiformat),
  defaultConfiguration: z.optional(z.strictObject({ level })),
  properties: z.optional(properties),
});

const region = z.strictObject({
  startLine: position,
  startColumn: z.optional(position),
  endLine: z.optional(position),
  endColumn: z.optional(position),
});

const result = z.strictObject({
  ruleId: z.string(),
  ruleIndex: z.optional(z.int().check(z.minimum(0))),
  level,
  message,
  locations: z.array(
    z.strictObject({
      physicalLocation: z.strictObject({
        artifactLocation: z.strictObject({ uri: reference, uriBaseId: z.string() }),
        region,
      }),
    }),
  ),
  partialFingerprints: z.record(z.string(), z.string()),
});

const unreadPlace = z.strictObject({
  physicalLocation: z.strictObject({
    artifactLocation: z.strictObject({ uri: reference, uriBaseId: z.string() }),
  }),
});

const invocation = z.strictObject({
  executionSuccessful: z.boolean(),
  toolExecutionNotifications: z.optional(
    z.array(z.strictObject({ level, message, locations: z.optional(z.array(unreadPlace)) })),
  ),
});

/** A SARIF log with what the report of lint may contain. */
export const SarifLog = z.strictObject({
  $schema: z.url(),
  version: z.literal("2.1.0"),
  runs: z.array(
    z.strictObject({
      tool: z.strictObject({
        driver: z.strictObject({
          name: z.string(),
          version: z.string(),
          semanticVersion: z.string().check(z.regex(/^\d+\.\d+\.\d+/)),
          rules: z.array(descriptor),
        }),
      }),
      columnKind: z.enum(["utf16CodeUnits", "unicodeCodePoints"]),
      originalUriBaseIds: z.record(z.string(), z.strictObject({ description: message })),
      invocations: z.array(invocation),
      results: z.array(result),
    }),
  ),
});
export type SarifLog = z.infer<typeof SarifLog>;
