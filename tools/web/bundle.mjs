// The page's files into a folder: node bundle.mjs FOLDER
// What Python has written there before (page_data.py) stays and is listed for use offline.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { build } from "esbuild";
import { marked } from "marked";

const target = process.argv[2];
if (!target) throw new Error("usage: node bundle.mjs FOLDER");
mkdirSync(target, { recursive: true });

const micropython = "node_modules/@micropython/micropython-webassembly-pyscript";
const copies = {
  "src/index.html": "index.html",
  "src/icon.svg": "icon.svg",
  "src/manifest.webmanifest": "manifest.webmanifest",
  [`${micropython}/micropython.wasm`]: "micropython.wasm",
};
for (const [from, to] of Object.entries(copies)) copyFileSync(from, join(target, to));

const options = { bundle: true, minify: true, target: "es2022", format: "esm", legalComments: "eof" };
await build({ ...options, bundle: false, entryPoints: [`${micropython}/micropython.mjs`],
  outfile: join(target, "micropython.mjs") });
await build({
  ...options,
  splitting: true, // what is rarely wanted is loaded when it is wanted
  entryPoints: { main: "src/main.ts", worker: "src/learning/worker.ts",
    reader: "src/streams/reader_worker.ts", style: "src/style.css" },
  external: ["./micropython.mjs"],
  chunkNames: "parts/[name]-[hash]",
  outdir: target,
});

// The lesson of docs/, to be printed
const lesson = marked.parse(readFileSync("../../docs/tutorials/lesson.md", "utf8"));
const title = /<h1>(.*)<\/h1>/.exec(lesson)[1];
const head = readFileSync("src/index.html", "utf8").replace(/ *<script.*\n/, "").replace(/(<title>).*(?=<)/, `$1${title}`);
const page = head.replace(/<body>[^]*<\/body>/, () => `<body class="sheet"><main>${lesson}</main></body>`);
writeFileSync(join(target, "lesson.html"), page);

// Their licenses. MicroPython's package brings no text.
const licenses = {
  "@micropython/micropython-webassembly-pyscript": "src/micropython-license.txt",
  "atob-lite": "node_modules/atob-lite/LICENSE.md",
  "lean-qr": "node_modules/lean-qr/LICENSE",
  "esptool-js": "node_modules/esptool-js/LICENSE",
  pako: "node_modules/pako/LICENSE",
  "smol-toml": "node_modules/smol-toml/LICENSE",
  uplot: "node_modules/uplot/LICENSE",
};
function license([name, file]) {
  const about = JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8"));
  const text = readFileSync(file, "utf8").trim();
  return `${name} ${about.version}: ${about.license}\n\n${text}\n`;
}
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
for (const name of Object.keys(dependencies)) if (!(name in licenses)) throw new Error(`no license of ${name}`);
const all = Object.entries(licenses).map(license);
writeFileSync(join(target, "licenses.txt"), all.join(`\n${"-".repeat(72)}\n\n`));

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
