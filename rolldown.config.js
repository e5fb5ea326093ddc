import { defineConfig } from "rolldown";

// CommonJS with one lazy chunk a command: a CommonJS entry starts at Node's own speed.
export default defineConfig({
  input: { main: "src/main.ts", context: "src/context.ts", program: "src/program.ts" },
  platform: "node",
  external: ["libsql", /^node:/],
  output: {
    dir: "dist",
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    minify: false,
  },
});
