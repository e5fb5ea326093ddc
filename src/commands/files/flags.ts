import type { Command } from "commander";
import { integer, positive } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

function addList(files: Command, run: Run): void {
  files
    .command("list")
    .description("List the files uploaded for chats; file_id is for chat --file-id.")
    .option("--limit <number>", "show at most this many", positive)
    .configureHelp({
      examples: [
        ["knowctl files list", "a table, or tab-separated values in a pipe"],
        ["knowctl files list --filter 'name~*.md' --fields file_id,name,status", "matching files"],
      ],
    })
    .action(run(async () => (await import("./files.ts")).filesList));
}

function addUpload(files: Command, run: Run): void {
  files
    .command("upload")
    .description(
      "Upload files for chats and print their ids.\n" +
        "Waits until the service has processed them, at most --timeout seconds (default: 300).",
    )
    .argument("<path...>", "files to upload")
    .option("--no-wait", "do not wait until the files are processed")
    .option("--project <id>", "project of the files", integer(0, 2 ** 31 - 1))
    .option("--image", "upload images for documents; print their image_file_id")
    .configureHelp({
      examples: [
        ["knowctl files upload docs/welcome.md", "prints id, kind and status"],
        [
          'knowctl chat --file-id "$(knowctl files upload docs/welcome.md --fields file_id)" "What is this?"',
          "upload once, ask often",
        ],
        ["knowctl files upload docs/*.md --no-wait --json", "the complete records"],
      ],
    })
    .action(run(async () => (await import("./files.ts")).filesUpload));
}

/** `files list | upload`. */
export function addFiles(program: Command, run: Run): void {
  const files = program.command("files").description("Upload files for chats, and list them.");
  addList(files, run);
  addUpload(files, run);
}
