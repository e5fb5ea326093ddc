import packageFile from "../../../package.json" with { type: "json" };

/** Name and version of this package, the program that writes the reports. */
export const tool: { name: string; version: string } = {
  name: packageFile.name,
  version: packageFile.version,
};
