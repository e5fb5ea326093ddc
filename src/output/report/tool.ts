import packageFile from "../../../package.json" with { type: "json" };

/** Who writes the reports: name and version of this package. */
export const tool: { name: string; version: string } = {
  name: packageFile.name,
  version: packageFile.version,
};
