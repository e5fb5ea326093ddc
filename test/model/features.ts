/**
 * What the build under test can do of command-line.md 4. With a feature off, steps that need
 * it are left out or run as that build wants them, so that an older build can be tried as well.
 */
export interface Features {
  /** The project root does not depend on which path is named, and an existing state marks it. */
  rootRule: boolean;
  /** Options and target are recorded: commands differ in options, `retry` and `orphans` take none. */
  records: boolean;
  /** `orphans` names classes and takes `--class`. */
  classes: boolean;
  /** Which files were named is recorded for each: `ingest docs README.md` names no file of docs. */
  namesEach: boolean;
  /** A failure stays recorded until its file is looked at: `ingest .` looks at no table. */
  keepsFailures: boolean;
  /** What was sent under an id to one pair is known to be replaced by what goes to another. */
  sharesIds: boolean;
  /** What may have been stored without an answer is not taken for what was recorded before. */
  knowsDoubt: boolean;
}

export const features: Features = {
  rootRule: true,
  records: true,
  classes: true,
  namesEach: false,
  keepsFailures: false,
  sharesIds: false,
  knowsDoubt: false,
};
