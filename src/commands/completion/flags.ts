import type { Command } from "commander";
import { choice, examples } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** `completion SHELL`. */
export function addCompletion(program: Command, run: Run): void {
  program
    .command("completion")
    .description(
      "Print the script that makes a shell complete commands, flags and their values.\n" +
        "Tab asks neither the service nor for a key: names of connectors, agents and tools are those of the\n" +
        "last listing here (at most 30 days old), sessions those asked in from this machine.\n\n" +
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
    .addHelpText(
      "after",
      examples([
        ["knowctl completion bash > knowctl.bash", "to source, or for /etc/bash_completion.d"],
        ["knowctl completion zsh > _knowctl", "for a folder of $fpath"],
        ["knowctl completion fish > knowctl.fish", "for ~/.config/fish/completions"],
        ["knowctl completion powershell > knowctl.ps1", "to dot-source in the profile"],
      ]),
    )
    .action(run(async () => (await import("./completion.ts")).printScript));
}
