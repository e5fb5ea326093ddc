// Writes so many NDJSON documents of about 1 KiB to stdout. Argument: how many.
import { once } from "node:events";

const count = Number(process.argv[2]);
const text = "The quick review of the quarterly plan names owners and dates. ".repeat(14);

function documentLine(index) {
  const id = `rows/${String(index).padStart(8, "0")}`;
  return `${JSON.stringify({
    id,
    semantic_identifier: `Row ${index}`,
    title: `Row ${index}`,
    sections: [{ text: `${text}${index}`, link: `https://wiki.example.com/${id}` }],
    source: "file",
    metadata: { team: "docs" },
  })}\n`;
}

let block = "";
for (let index = 0; index < count; index++) {
  block += documentLine(index);
  if (block.length < 65_536 && index + 1 < count) continue;
  if (!process.stdout.write(block)) await once(process.stdout, "drain");
  block = "";
}
