import type { Coverage } from "./case.ts";

/** `doctor`: flag by flag. */
export const doctor: Coverage = {
  doctor: {
    "--bundle": { flag: "--bundle ticket.txt", left: { gains: /ticket\.txt: / } },
    "--stream-test": {
      flag: "--stream-test",
      requests: { gains: /send-chat-message[^]*"message"/ },
    },
  },
};
