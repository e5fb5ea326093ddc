import * as z from "zod/mini";

const ruleLevels = (description: string) =>
  z.record(z.string(), z.enum(["off", "note", "warning", "error"])).check(z.describe(description));

/** The member `lint` of a configuration file. */
export const LintSettings = z.strictObject({
  rules: z.optional(
    ruleLevels("severity of each rule: off, note, warning or error; an error also stops an upload"),
  ),
  staleDays: z.optional(
    z
      .int()
      .check(
        z.minimum(1),
        z.maximum(36_500),
        z.describe("days that the date of a page may be older than the last commit of its file"),
      ),
  ),
  overrides: z.optional(
    z
      .array(
        z.strictObject({
          paths: z
            .array(z.string().check(z.minLength(1)))
            .check(z.minLength(1), z.describe("globs of files, relative to the project root")),
          rules: ruleLevels("severity of each rule for these files"),
        }),
      )
      .check(z.describe("severities per path; later entries win")),
  ),
});
export type LintSettings = z.infer<typeof LintSettings>;
