import type { Command } from "commander";
import type { Context } from "../../context.ts";
import type { Run } from "../../cli/commands.ts";
import type { RunLine, TryFlags } from "./try.ts";

/** `runLine` runs a whole command line, as if it were typed. */
export function addTry(program: Command, run: Run, runLine: RunLine): void {
  program
    .command("try")
    .description(
      "Ask about a folder of yours now, without an account.\n" +
        "Starts a local service, uploads the folder, and opens a conversation about it. Every answer " +
        "cites your own files. Nothing leaves this machine. In a pipe, it asks one question and ends. The folder is only read.",
    )
    .argument("[folder]", "folder of documents (default: asks; else the handbook of knowctl)")
    .option("--keep", "keep the local service's documents, for `knowctl sandbox --data`")
    .configureHelp({
      examples: [
        ["knowctl try docs", "talk with the documents of a folder"],
        ["knowctl try", "asks for the folder; Enter takes the handbook of knowctl"],
        ["knowctl try docs --keep", "shows how to start the local service with them later"],
      ],
    })
    .action(
      run(async () => {
        const { tryOut } = await import("./try.ts");
        return (context, args, flags: TryFlags) => tryOut(context, args, flags, runLine);
      }),
    );
}

/** After the help of a bare `knowctl`: see offer.ts. */
export async function offerTrial(context: Context, runLine: RunLine): Promise<void> {
  const { offer } = await import("./offer.ts");
  await offer(context, runLine);
}
