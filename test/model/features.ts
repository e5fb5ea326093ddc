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
}

export const features: Features = { rootRule: false, records: false, classes: false };
