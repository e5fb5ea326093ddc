import type { Coverage, Setting } from "./case.ts";
import { runningId, storedId } from "./stored.ts";

const asked: Setting = { dialect: "onyx", first: ["chat hello", "chat other"] };
const last: Setting = { ...asked, args: "last" };
const stored: Setting = { dialect: "onyx", args: storedId };
const running: Setting = { dialect: "onyx", args: runningId };
const colour = { FORCE_COLOR: "1" };

/** `sessions …`: flag by flag. */
export const sessions: Coverage = {
  "sessions list": {
    "--limit": { ...asked, args: "--fields id", flag: "--limit 1", stdout: { loses: /\n.+\n/ } },
    "--local": { ...asked, flag: "--local", requests: { loses: /get-user-chat-sessions/ } },
  },
  "sessions show": {
    "--state": { tested: "test/commands/files-in-state.test.ts" },
    "--all": { ...stored, flag: "--all", stderr: { loses: /other branch/ } },
    "--no-sources": { ...stored, flag: "--no-sources", stdout: { loses: /\[policy\]/ } },
    "--render": {
      ...stored,
      isTTY: true,
      env: colour,
      flag: "--render plain",
      stdout: { gains: /\*\*manager/ },
    },
  },
  "sessions export": {
    "--file": { ...last, flag: "--file s.md", left: { gains: /s\.md: [^]*other/ } },
    "--all": {
      ...stored,
      args: `${storedId} --json`,
      flag: "--all",
      stdout: { gains: /"messageId": 3/ },
    },
  },
  "sessions delete": {
    "--yes": { ...last, flag: "--yes", codes: [2, 0] },
    "--local": { ...last, args: "last --yes", flag: "--local", requests: { loses: /^DELETE/m } },
  },
  "sessions recover": {
    "--state": { tested: "test/commands/files-in-state.test.ts" },
    "--poll": { tested: "test/commands/sessions/sessions.test.ts" },
    "--live": { ...running, flag: "--live", stdout: { gains: /Let me look that up/ } },
    "--no-sources": { ...running, flag: "--no-sources", stderr: { loses: /\[1\] Leave/ } },
    "--render": {
      ...running,
      isTTY: true,
      env: colour,
      flag: "--render plain",
      stdout: { gains: /\*\*manager/ },
    },
    "--show": { ...running, flag: "--show none", stderr: { loses: /They ask about leave/ } },
  },
};
