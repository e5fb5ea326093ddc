import type { Coverage, Setting } from "./case.ts";

const file: Setting = { files: { "a.md": "# A\n\ntext\n", "b.md": "# B\n\ntext\n" } };
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const image: Setting = { files: { "a.png": pixel } };

/** `files …`: flag by flag. */
export const files: Coverage = {
  "files list": {
    "--limit": {
      ...file,
      first: ["files upload a.md b.md --no-wait"],
      args: "--fields name",
      flag: "--limit 1",
      stdout: { loses: /\n.*\n/ },
    },
  },
  "files upload": {
    "--no-wait": {
      ...file,
      args: "a.md",
      flag: "--no-wait",
      requests: { loses: /GET .*file/ },
    },
    "--project": [
      { ...file, args: "a.md --json", flag: "--project 7", stdout: { gains: /"project_id": 7/ } },
      { ...image, args: "a.png --image", flag: "--project 7", refused: /--image and --project/ },
    ],
    "--image": [
      {
        ...image,
        dialect: "onyx",
        args: "a.png --json",
        flag: "--image",
        stdout: { gains: /image_file_id/ },
      },
      {
        ...image,
        dialect: "onyx",
        args: "a.png --image --jq length",
        flag: "--no-wait",
        harmless: "images are never waited for, which is what the flag says",
      },
    ],
  },
};
