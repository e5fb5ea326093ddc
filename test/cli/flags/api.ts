import type { Coverage } from "./case.ts";

const chat = "chat/send-chat-message";
const sessions = "chat/get-user-chat-sessions --dialect onyx";

/** `api`: flag by flag. */
export const api: Coverage = {
  api: {
    "--method": [
      { args: "tool", flag: "--method HEAD", requests: { gains: /^HEAD/m }, codes: [0, 9] },
      { args: "GET tool", flag: "--method GET", refused: /set twice/ },
    ],
    "--raw-field": {
      args: `${chat} -F stream=false`,
      flag: "-f message=hello",
      codes: [2, 0],
      requests: { gains: /"message":"hello"/ },
    },
    "--field": {
      args: `${chat} -f message=hello`,
      flag: "-F stream=false",
      requests: { gains: /"stream":false/ },
    },
    "--input": {
      args: `POST ${chat}`,
      files: { "q.json": '{"message":"hello","stream":false}' },
      flag: "--input q.json",
      codes: [2, 0],
      requests: { gains: /"message":"hello"/ },
    },
    "--header": {
      args: "tool",
      flag: "--header x-mark:yes",
      requests: { gains: /"x-mark":"yes"/ },
    },
    "--include": { args: "tool", flag: "--include", stdout: { gains: /^HTTP\/1\.1 200/ } },
    "--paginate": [
      { dialect: "onyx", args: sessions, flag: "--paginate", stdout: { loses: /has_more/ } },
      { args: "tool -i", flag: "--paginate", refused: /--include/ },
      { args: "tool --output raw", flag: "--paginate", refused: /--output raw/ },
      { args: `${chat} -f message=hello`, flag: "--paginate", refused: /GET/ },
    ],
    "--silent": { args: "tool", flag: "--silent", stdout: { loses: /internal_search/ } },
    "--key": {
      args: "tool",
      env: { KNOWCTL_ACCESS_TOKEN: "another-key" },
      flag: "--key api",
      codes: [4, 0],
    },
    "--jq": { args: "tool --silent", flag: "--jq .[0]", refused: /--jq and --silent/ },
    "--fields": { args: "tool --silent", flag: "--fields id", refused: /--fields and --silent/ },
    "--filter": { args: "tool --silent", flag: "--filter id=1", refused: /--filter and --silent/ },
    "--json": { args: "tool --silent", flag: "--json", refused: /--json and --silent/ },
    "--output": { args: "tool --silent", flag: "--output raw", refused: /--output and --silent/ },
  },
};
