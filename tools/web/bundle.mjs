// The page's files into a folder: node bundle.mjs FOLDER
// What Python has written there before (page_data.py) stays and is listed for use offline.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { build } from "esbuild";

const target = process.argv[2];
if (!target) throw new Error("usage: node bundle.mjs FOLDER");
mkdirSync(target, { recursive: true });

const micropython = "node_modules/@micropython/micropython-webassembly-pyscript";
const copies = {
  "src/index.html": "index.html",
  "src/icon.svg": "icon.svg",
  "src/manifest.webmanifest": "manifest.webmanifest",
  [`${micropython}/micropython.mjs`]: "micropython.mjs",
  [`${micropython}/micropython.wasm`]: "micropython.wasm",
};
for (const [from, to] of Object.entries(copies)) copyFileSync(from, join(target, to));

const options = { bundle: true, minify: true, target: "es2022", format: "esm", legalComments: "eof" };
await build({
  ...options,
  entryPoints: { main: "src/main.ts", worker: "src/learning/worker.ts", style: "src/style.css" },
  external: ["./micropython.mjs"],
  outdir: target,
});

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "offline.js")
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

const files = filesIn(target);
const hash = createHash("sha256");
for (const name of files) hash.update(name).update(readFileSync(join(target, name)));
await build({
  ...options,
  entryPoints: ["src/offline.ts"],
  outfile: join(target, "offline.js"),
  define: {
    FILES: JSON.stringify(files),
    VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)),
  },
});
const bytes = [...files, "offline.js"].reduce((n, f) => n + readFileSync(join(target, f)).length, 0);
writeFileSync(1, `${files.length + 1} files, ${bytes.toLocaleString("en")} bytes, in ${target}\n`);
