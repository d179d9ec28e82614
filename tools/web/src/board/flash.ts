// Copies a program to a board, which starts the old program or the new one, whatever happens:
// the steps of `microshrub flash` (tools/microshrub_tools/board/flash.py).

import type { PageData } from "../page_data";
import { ARCHITECTURES } from "../shared";
import { hex32, texts } from "../texts";
import { BoardError, RaisedError, type RawRepl } from "./raw_repl";

type Files = Readonly<Record<string, Uint8Array>>;
type Progress = (done: number, total: number) => void;
type Listing = readonly (readonly [string, number])[]; // names and types

const NEW = "new.microshrub";
const CHUNK = 1536; // bytes sent at once, a multiple of 3 for base64
const SELFTEST = 300_000; // milliseconds
const FOLDER = 0x4000; // the type of a folder
const STATE_FILES = ["config.json", ".state"]; // the files that a checkpoint belongs to
const SUB_VERSION = 3; // version of our machine code, which MicroPython 1.23 and newer load

/** Return the board's -march of mpy-cross; undefined if the board loads none of our machine code. */
export async function architectureOf(board: RawRepl): Promise<string | undefined> {
  await board.run("import sys");
  const has = await board.value<number>("getattr(sys.implementation, '_mpy', 0)");
  if ((has & 0xff) !== 6) throw new BoardError(texts.board.version);
  return ((has >> 8) & 3) === SUB_VERSION ? ARCHITECTURES[(has >> 10) & 0xf] : undefined;
}

/** Reject if the board, which was just reset, has less RAM than `taken`; `name` is the board that was chosen. */
export async function checkMemory(board: Pick<RawRepl, "run" | "value">, taken: number, name: string): Promise<void> {
  await board.run("import gc; gc.collect()");
  const free = await board.value<number>("gc.mem_free()");
  if (taken > free) throw new BoardError(texts.board.memory(taken, free, name));
}

/** Put the program on the board and switch to it; `expected` is the self-test's checksum. */
export async function flash(
  board: RawRepl,
  files: Files,
  code: PageData["board_code"],
  expected: number,
  progress: Progress,
): Promise<void> {
  await board.run(code.helpers);
  await remove(board, NEW);
  for (const slot of (await slots(board)).slice(0, -1)) await remove(board, slot);
  await checkSpace(board, files);
  await copy(board, files, progress);
  for (const [name, data] of Object.entries(files)) await same(board, `${NEW}/${name}`, data);
  await selftest(board, code, expected);
  await takeCheckpointAlong(board);
  await switchTo(board, new TextEncoder().encode(code.loader));
}

/** Return a text as a Python literal; our paths are ASCII. */
const python = (text: string): string => JSON.stringify(text);

const listing = (board: RawRepl, path: string): Promise<Listing> =>
  board.value<Listing>(`listing(${python(path)})`);

const slots = (board: RawRepl): Promise<string[]> => board.value<string[]>("programs()");

async function remove(board: RawRepl, path: string): Promise<void> {
  const [name, above] = [path.split("/").at(-1)!, path.split("/").slice(0, -1).join("/") || "."];
  if (!(await listing(board, above)).some(([each]) => each === name)) return;
  const inside = [...(await listing(board, path))];
  inside.sort(([a], [b]) => Number(a === "main.py") - Number(b === "main.py")); // main.py last
  for (const [inner, type] of inside) {
    if (type & FOLDER) await remove(board, `${path}/${inner}`);
    else await board.run(`feed(); os.remove(${python(`${path}/${inner}`)})`);
  }
  await board.run(`os.rmdir(${python(path)})`);
}

async function checkSpace(board: RawRepl, files: Files): Promise<void> {
  const [block, , , free] = await board.value<number[]>("list(os.statvfs('.')[:4])");
  const need = blocksOf(files, block!);
  if (need > free!) throw new BoardError(texts.board.space(need * block!, free! * block!));
}

/** Return about how many blocks of littlefs the files take, as in tools/microshrub_tools/board/flash_memory.py. */
function blocksOf(files: Files, block: number): number {
  const inside = new Map([["", 0]]); // bytes in each folder
  let blocks = 0;
  for (const [path, data] of Object.entries(files)) {
    const parts = path.split("/");
    parts.forEach((_, i) => {
      const folder = parts.slice(0, i).join("/");
      if (!inside.has(folder)) inside.set(folder, 0);
    });
    const isSmall = data.length <= block >> 3;
    blocks += isSmall ? 0 : Math.ceil(data.length / block);
    const folder = parts.slice(0, -1).join("/");
    const entry = parts.at(-1)!.length + 16 + (isSmall ? data.length : 0);
    inside.set(folder, inside.get(folder)! + entry);
  }
  for (const bytes of inside.values()) blocks += 2 + 2 * Math.ceil((4 * bytes) / block);
  return blocks;
}

async function copy(board: RawRepl, files: Files, progress: Progress): Promise<void> {
  const folders = new Set([NEW]);
  for (const name of Object.keys(files)) {
    const parts = `${NEW}/${name}`.split("/").slice(0, -1);
    parts.forEach((_, i) => folders.add(parts.slice(0, i + 1).join("/")));
  }
  for (const folder of [...folders].sort()) await board.run(`os.mkdir(${python(folder)})`);
  const total = Object.values(files).reduce((sum, data) => sum + data.length, 0);
  let done = 0;
  for (const [name, data] of Object.entries(files)) {
    await write(board, `${NEW}/${name}`, data);
    done += data.length;
    progress(done, total);
  }
}

async function write(board: RawRepl, path: string, data: Uint8Array): Promise<void> {
  try {
    await board.run(`f = open(${python(path)}, 'wb')`);
    for (let at = 0; at < data.length; at += CHUNK) {
      const text = btoa(String.fromCharCode(...data.subarray(at, at + CHUNK)));
      await board.run(`write(f, '${text}')`);
    }
    await board.run("f.close()");
  } catch (error) {
    const isFull = error instanceof RaisedError && /OSError: (\[Errno )?28\b/.test(error.text);
    throw isFull ? new BoardError(texts.board.full) : error;
  }
}

async function same(board: RawRepl, path: string, data: Uint8Array): Promise<void> {
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(data));
  const ours = [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
  if ((await board.value<string>(`digest(${python(path)})`)) !== ours) {
    throw new BoardError(texts.board.damaged(path));
  }
}

async function selftest(
  board: RawRepl,
  code: PageData["board_code"],
  expected: number,
): Promise<void> {
  await board.reset();
  await board.run(code.helpers);
  const printed = await board.run(code.selftest.replace("%r", python(NEW)), SELFTEST);
  const crc = Number(/^\((-?\d+),/.exec(printed.trim())?.[1]) >>> 0;
  if (crc !== expected) throw new BoardError(texts.board.other(hex32(crc), hex32(expected)));
}

/** Copy the checkpoints of the same configuration and the same states to the new program. */
async function takeCheckpointAlong(board: RawRepl): Promise<void> {
  const old = (await slots(board)).at(-1);
  if (old === undefined) return;
  const filesIn = async (path: string): Promise<string[]> =>
    (await listing(board, path)).filter(([, type]) => !(type & FOLDER)).map(([name]) => name);
  const [before, fresh] = [await filesIn(old), await filesIn(NEW)];
  for (const name of new Set([...before, ...fresh])) {
    if (!STATE_FILES.some((end) => name.endsWith(end))) continue;
    if (!before.includes(name) || !fresh.includes(name)) return;
    const [a, b] = [python(`${old}/${name}`), python(`${NEW}/${name}`)];
    if (await board.value<boolean>(`digest(${a}) != digest(${b})`)) return;
  }
  for (const name of before.filter((each) => each.startsWith("checkpoint."))) {
    await board.run(`copy(${python(`${old}/${name}`)}, ${python(`${NEW}/${name}`)})`);
  }
}

/** Switch from the previous program to the new one; after each step, one of the two starts. */
async function switchTo(board: RawRepl, loader: Uint8Array): Promise<void> {
  await board.run(`install(${python(NEW)})`);
  if ((await listing(board, ".")).some(([name]) => name === "main.py")) {
    const isOurs = await same(board, "main.py", loader).then(() => true, () => false);
    if (!isOurs) await board.run("keep_main()");
  }
  await write(board, "main.new", loader);
  await same(board, "main.new", loader);
  try {
    await board.run("os.rename('main.new', 'main.py')");
  } catch (error) {
    if (!(error instanceof RaisedError)) throw error;
    await board.run("os.remove('main.py'); os.rename('main.new', 'main.py')"); // FAT
  }
  for (const each of (await slots(board)).slice(0, -1)) await remove(board, each);
}
