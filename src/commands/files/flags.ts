import type { Command } from "commander";
import { examples, integer, positive } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

function addList(files: Command, run: Run): void {
  files
    .command("list")
    .description("List the files uploaded for chats; file_id is what chat --file-id takes.")
    .option("--limit <n>", "at most this many", positive)
    .addHelpText(
      "after",
      examples([
        ["knowctl files list", "a table, or tab-separated values in a pipe"],
        ["knowctl files list --filter 'name~*.md' --fields file_id,name,status", "some of them"],
      ]),
    )
    .action(run(async () => (await import("./list.ts")).filesList));
}

function addUpload(files: Command, run: Run): void {
  files
    .command("upload")
    .description(
      "Upload files for chats and print their ids.\n" +
        "Waits until the service has processed them, at most --timeout seconds (default 300).",
    )
    .argument("<path...>", "files to upload")
    .option("--no-wait", "do not wait until they are processed")
    .option("--project <id>", "project that the files belong to", integer(0, 2 ** 31 - 1))
    .option("--image", "images for documents: prints what image_file_id takes")
    .addHelpText(
      "after",
      examples([
        ["knowctl files upload docs/welcome.md", "its id, its kind and its status"],
        [
          'knowctl chat --file-id "$(knowctl files upload docs/welcome.md --fields file_id)" "What is this?"',
          "upload once, ask often",
        ],
        ["knowctl files upload docs/*.md --no-wait --json", "the whole records"],
      ]),
    )
    .action(run(async () => (await import("./upload-command.ts")).filesUpload));
}

/** `files list | upload`. */
export function addFiles(program: Command, run: Run): void {
  const files = program.command("files").description("Upload files for chats, and list them.");
  addList(files, run);
  addUpload(files, run);
}
