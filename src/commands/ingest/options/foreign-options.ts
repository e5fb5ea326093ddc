import * as z from "zod/mini";
import { IngestSettings } from "../../../config/values/schema.ts";
import { formats } from "../../../documents/formats/formats.ts";
import { CliError, issueText } from "../../../errors.ts";
import { parseOptions, type RecordedOptions } from "../../../sync/state/options.ts";

/** Members that a configuration has under another name, or not at all. */
const ownMembers = {
  useIgnoreFiles: z.optional(z.boolean()),
  columns: z.optional(z.record(z.string(), z.string())),
  format: z.optional(
    z.string().check(z.refine((name) => Object.hasOwn(formats, name), "no format of this name")),
  ),
  maxFileBytes: z.optional(z.int()),
  dropAccess: z.optional(z.boolean()),
  storesCreation: z.optional(z.boolean()),
};
const Mapping = z.extend(IngestSettings, ownMembers);
const Settings = z.extend(Mapping, { flags: z.optional(Mapping) });

/** What selects files or permits more to be sent: only this project decides about that. */
const deciding = [
  "include",
  "exclude",
  "useIgnoreFiles",
  "format",
  "drafts",
  "hidden",
  "dropAccess",
  "allowSecrets",
] as const;

function withoutDeciding<Options extends object>(options: Options): Options {
  const kept = Object.entries(options).filter(
    ([name]) => !(deciding as readonly string[]).includes(name),
  );
  return Object.fromEntries(kept) as Options;
}

/**
 * The options in an exported state or a report, which others may have written: without those that
 * select files or permit more to be sent. Throws CliError `usage` that names an invalid member.
 */
export function foreignOptions(value: unknown): RecordedOptions {
  const options = parseOptions(value);
  if (!options) throw new CliError("usage", "options: invalid upload options");
  const result = Settings.safeParse(options.settings);
  if (!result.success) {
    const [issue] = result.error.issues;
    const place = ["options.settings", ...(issue?.path ?? [])].map(String).join(".");
    throw new CliError("usage", `${place.slice(0, 200)}: ${issue ? issueText(issue) : "invalid"}`);
  }
  const { settings } = options;
  const { flags } = settings;
  const kept = withoutDeciding({
    ...settings,
    ...(flags ? { flags: withoutDeciding(flags) } : {}),
  });
  const { pairFromFlag, mapping } = options;
  const lacksFormat = settings.format === undefined ? {} : { lacksFormat: true as const };
  return { byInclude: false, pairFromFlag, mapping, settings: kept, ...lacksFormat };
}
