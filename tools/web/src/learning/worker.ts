// The worker: MicroPython with the device library, and one learner in it.

/// <reference lib="webworker" />

import type { Answer, Order, Orders } from "./messages";
import type { MicroPython } from "./micropython";
import type { Parameters } from "../page_data";

const HEAP_BYTES = 32 << 20; // bytecode makes garbage that machine code does not
const KERNELS = "kernels.wasm"; // in the library
const [ROWS, LABELS, PREDICTIONS] = ["/rows", "/labels", "/predictions"];
const [READINGS, SAMPLES] = ["/readings", "/samples"];
const [LEARNER, QUANTIZER] = ["/learner.state", "/quantizer.state"];

let micropython: MicroPython;
let learning: {
  observe(rows: string): void;
  learn(rows: string, labels: string, predictions: string): string;
  ask(rows: string, predictions: string): void;
  predict(row: string): string;
  buffers(): string;
  modules(): string;
  selftest(): number | bigint;
  save(learner: string, quantizer: string): void;
};
let begin: (parameters: Parameters) => null; // starts a fresh learner
let newest: Parameters; // the learner's parameters
let windows: { take(readings: string, samples: string): number; restart(): void };

async function create(order: Orders["create"]): Promise<unknown> {
  const { [KERNELS]: kernels, ...files } = order.library;
  const memory = await loadWithMemory();
  micropython.registerJsModule("machine_code", await linked(kernels!, memory));
  for (const [path, data] of Object.entries(files)) put(`/lib/${path}`, data);
  micropython.runPython("import sys; sys.path.insert(0, '/lib')");
  const { Learning } = micropython.pyimport("learning") as {
    Learning: (learnerClass: string, parameters: string, percent: number) => typeof learning;
  };
  begin = (parameters) => {
    learning = Learning(order.learnerClass, JSON.stringify(parameters), order.percent);
    newest = parameters;
    return null;
  };
  begin(order.parameters);
  return { buffers: JSON.parse(learning.buffers()) };
}

/** Load MicroPython and return its memory, which only WebAssembly.instantiate() reveals. */
async function loadWithMemory(): Promise<WebAssembly.Memory> {
  const address = "./micropython.mjs";
  const { loadMicroPython } = (await import(address)) as typeof import("./micropython");
  const { instantiate, instantiateStreaming } = WebAssembly;
  let memory: WebAssembly.Memory | undefined;
  const seen = (made: WebAssembly.WebAssemblyInstantiatedSource): typeof made => {
    memory = made.instance.exports["memory"] as WebAssembly.Memory;
    return made;
  };
  WebAssembly.instantiateStreaming = async (...given) => seen(await instantiateStreaming(...given));
  Object.assign(WebAssembly, { instantiate: async (...given: [BufferSource]) => seen(await instantiate(...given)) });
  micropython = await loadMicroPython({ heapsize: HEAP_BYTES });
  Object.assign(WebAssembly, { instantiate, instantiateStreaming });
  return memory!;
}

/** Return the kernels, as functions that work in that memory. */
async function linked(code: Uint8Array<ArrayBuffer>, memory: WebAssembly.Memory): Promise<WebAssembly.Exports> {
  const table = new WebAssembly.Table({ element: "anyfunc", initial: 0 });
  const env = { __linear_memory: memory, __indirect_function_table: table };
  const { instance } = await WebAssembly.instantiate(code, { env });
  return instance.exports;
}

function put(path: string, data: Uint8Array): void {
  const folders = path.split("/").slice(1, -1);
  folders.forEach((_, i) => {
    const folder = "/" + folders.slice(0, i + 1).join("/");
    if (!micropython.FS.analyzePath(folder).exists) micropython.FS.mkdir(folder);
  });
  micropython.FS.writeFile(path, data);
}

function putRows(rows: Int32Array): void {
  micropython.FS.writeFile(ROWS!, new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength));
}

function learn(order: Orders["learn"]): unknown {
  putRows(order.rows);
  micropython.FS.writeFile(LABELS!, order.labels);
  const status = JSON.parse(learning.learn(ROWS!, LABELS!, PREDICTIONS!)) as object;
  return { ...status, predictions: micropython.FS.readFile(PREDICTIONS!) };
}

function ask(rows: Int32Array): Uint8Array {
  putRows(rows);
  learning.ask(ROWS!, PREDICTIONS!);
  return micropython.FS.readFile(PREDICTIONS!);
}

function watch(order: Orders["windows"]): null {
  const { Windows } = micropython.pyimport("motion") as {
    Windows: (axes: number, window: number, hop: number, turns: string, lags: string) => typeof windows;
  };
  windows = Windows(order.axes, order.window, order.hop, JSON.stringify(order.turns), JSON.stringify(order.lags));
  return null;
}

function samplesOf(readings: Uint8Array): Int32Array {
  micropython.FS.writeFile(READINGS!, readings);
  windows.take(READINGS!, SAMPLES!);
  return new Int32Array(micropython.FS.readFile(SAMPLES!).slice().buffer);
}

function finish(): unknown {
  const modules = JSON.parse(learning.modules()) as string[];
  learning.save(LEARNER!, QUANTIZER!);
  const [learner, quantizer] = [LEARNER!, QUANTIZER!].map((path) => micropython.FS.readFile(path));
  return { learner, quantizer, modules };
}

function follow(order: Order): unknown {
  switch (order.name) {
    case "create":
      return create(order.payload);
    case "anew":
      return begin(order.payload.parameters ?? newest);
    case "observe":
      putRows(order.payload.rows);
      return learning.observe(ROWS!) ?? null;
    case "learn":
      return learn(order.payload);
    case "ask":
      return ask(order.payload.rows);
    case "predict":
      putRows(order.payload.row);
      return JSON.parse(learning.predict(ROWS!));
    case "windows":
      return watch(order.payload);
    case "restart":
      return windows.restart() ?? null;
    case "readings":
      return samplesOf(order.payload.data);
    case "selftest":
      return Number(learning.selftest()) >>> 0;
    case "finish":
      return finish();
  }
}

self.onmessage = async (event: MessageEvent<Order>): Promise<void> => {
  let answer: Answer;
  try {
    answer = { result: await follow(event.data) };
  } catch (error) {
    answer = { refused: reason(error) };
  }
  self.postMessage(answer);
};

/** Return the last line of a traceback, without the error's name. */
function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1)!.replace(/^\w*Error: /, "");
}
