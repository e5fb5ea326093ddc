import type { Command } from "commander";
import { choice, collect, decimal, examples, integer, shard } from "./options.ts";
import type { Run } from "./run.ts";

/** Flags that decide which files are taken and how they map; shared with `ingest explain`. */
function addMappingOptions(command: Command): Command {
  return command
    .option("--include <glob>", "take only files that match (repeatable)", collect)
    .option("--exclude <glob>", "leave out files that match (repeatable)", collect)
    .option("--no-ignore", "do not skip hidden files and what .gitignore or .knowctlignore name")
    .option("--id-prefix <text>", "put in front of every path-derived id")
    .option("--source <type>", "document source type (default: file)")
    .option("--sections <mode>", "whole or headings (default: whole)", choice("whole", "headings"))
    .option(
      "--anchors <style>",
      "how headings become link anchors: github, docusaurus, mkdocs",
      choice("github", "docusaurus", "mkdocs"),
    )
    .option(
      "--max-section-chars <number>",
      "split longer sections at paragraphs",
      integer(200, 10_000_000),
    )
    .option("--link <template>", "link of a document: {path} {dir} {name} {slug} {id} or a key")
    .option("--link-base <url>", "what relative links are joined to")
    .option("--metadata <key=value>", "add metadata (repeatable)", collect)
    .option("--tag <tag>", "add a tag (repeatable)", collect)
    .option(
      "--updated-at <source>",
      "where a missing date comes from: git or mtime",
      choice("git", "mtime"),
    )
    .option("--owners <source>", "where missing owners come from: codeowners", choice("codeowners"))
    .option("--meta-commit", "add the last commit of each file as metadata source_commit")
    .option(
      "--images <mode>",
      "images of the project: skip or upload (default: skip)",
      choice("skip", "upload"),
    )
    .option("--drafts", "send documents marked draft: true as well");
}

function addTargetOptions(command: Command): Command {
  return command
    .option("--cc-pair-id <id>", "connector/credential pair to upload to", integer(1, 2 ** 31 - 1))
    .option("--connector <name>", "the same, by connector name")
    .option("--state <dir>", "folder of the state store (default: .knowctl in the project root)");
}

/** Where a run is told besides the terminal. */
function addReportOptions(command: Command): Command {
  return command
    .option("--report <file>", "write the run to a .json, .xml or .html file (repeatable)", collect)
    .option("--gitlab-report <file>", "write the failures as a GitLab code quality report");
}

/** What `ingest -` reads. */
function addStdinOptions(command: Command): Command {
  return command
    .option(
      "--format <name>",
      "what stdin (-) holds: ndjson (default), or one document: markdown, text, html …",
      choice("ndjson", "markdown", "text", "html", "mdx", "rst", "asciidoc"),
    )
    .option("--id <id>", "id of the one document on stdin");
}

export function addIngest(program: Command, run: Run): void {
  const ingest = program
    .command("ingest")
    .description("Upload folders of Markdown; only what changed is sent.")
    .argument(
      "[path...]",
      "folders, files, globs, or - for stdin (default: the configured include)",
    );
  addTargetOptions(addMappingOptions(ingest))
    .option("--since <commit>", "take only files that changed since a commit, a tag or a branch")
    .option("--concurrency <number>", "most requests in flight (default: 8)", integer(1, 256))
    .option("--rate <number>", "most documents per second", decimal(0.001, 1_000_000))
    .option("--checksum", "read every file instead of trusting size, times and inode")
    .option("--force", "send every document, changed or not")
    .option("--no-state", "neither read nor write the state store")
    .option("--dry-run", "show what would be sent and send nothing")
    .option("--exit-code", "with --dry-run: exit 12 when there is work")
    .option(
      "--max-failures <number>",
      "stop after this many failed documents",
      integer(1, 1_000_000),
    )
    .option("--shard <i/n>", "take one of n equal parts, by hash of the id, for n runs", shard)
    .option("--allow-empty", "finding no document is no error");
  addStdinOptions(addReportOptions(ingest))
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest docs --cc-pair-id 2", "upload a folder; a second run sends what changed"],
        [
          'knowctl ingest docs --connector "Handbook uploads" --sections headings',
          "by name, one section per heading",
        ],
        [
          "knowctl ingest docs --cc-pair-id 2 --shard 1/8 --report shard-1.json",
          "one of 8 runs that share the work; see docs/pipelines.md",
        ],
        ["knowctl ingest docs --dry-run", "see the plan; needs no key and no connection"],
        ["knowctl ingest explain docs/welcome.md", "why a file is in or out, and what is sent"],
        [
          "knowctl ingest docs --cc-pair-id 2 --output ndjson",
          "one line per document, for a pipeline",
        ],
      ]),
    )
    .action(run(async () => (await import("../commands/ingest/ingest.ts")).ingest));
  const explain = ingest
    .command("explain")
    .description(
      "Show why a file is in or out, where each field comes from, and the exact payload.",
    )
    .argument("<file>", "file to explain");
  addTargetOptions(addMappingOptions(explain))
    .addHelpText(
      "after",
      examples([["knowctl ingest explain docs/welcome.md", "every field with its origin"]]),
    )
    .action(run(async () => (await import("../commands/ingest/explain.ts")).explainFile));
}
