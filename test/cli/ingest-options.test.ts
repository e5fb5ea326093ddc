import { Command } from "commander";
import { expect, it } from "vitest";
import { formats } from "../../src/documents/formats/formats.ts";
import { addMappingOptions } from "../../src/commands/ingest/flags-shared.ts";

it.each(Object.keys(formats))(
  "--format takes %s: a name in commands/ingest/flags-shared.ts",
  (name) => {
    const command = addMappingOptions(new Command("ingest").exitOverride());
    expect(command.parse(["--format", name], { from: "user" }).opts()).toEqual({
      format: name,
      ignore: true,
    });
  },
);
