import type { Command } from "commander";
import { choice } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `completion SHELL`. */
export function addCompletion(program: Command, run: Run): void {
  program
    .command("completion")
    .description(
      "Print the completion script of a shell.\n" +
        "It completes commands, flags and their values. " +
        "Completion sends no request and needs no key. Names of connectors, agents and tools come from the " +
        "last list on this machine (at most 30 days old); sessions are those of this machine.\n\n" +
        "bash        add to ~/.bashrc:  source <(knowctl completion bash)\n" +
        "zsh         add to ~/.zshrc:   source <(knowctl completion zsh)\n" +
        "fish        knowctl completion fish > ~/.config/fish/completions/knowctl.fish\n" +
        "powershell  add to the file of $PROFILE:\n" +
        "            knowctl completion powershell | Out-String | Invoke-Expression",
    )
    .argument(
      "<shell>",
      "bash, zsh, fish or powershell",
      choice("bash", "zsh", "fish", "powershell"),
    )
    .configureHelp({
      examples: [
        ["knowctl completion bash > knowctl.bash", "to source, or for /etc/bash_completion.d"],
        ["knowctl completion zsh > _knowctl", "for a folder of $fpath"],
        ["knowctl completion fish > knowctl.fish", "for ~/.config/fish/completions"],
        ["knowctl completion powershell > knowctl.ps1", "to dot-source in the profile"],
      ],
    })
    .action(run(async () => (await import("./shells.ts")).printScript));
}
