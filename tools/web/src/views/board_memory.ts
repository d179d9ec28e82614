// The part of a board's RAM that the learner takes, buffer by buffer.

import { make, table } from "../dom";
import type { Buffer } from "../learning/messages";
import type { Board } from "../page_data";
import { count, texts } from "../texts";

const ROW_BYTES = 6; // bytes of a feature: a raw value and its code

/** Make a bar, a table of its parts, and a list of all buffers. */
export function boardMemory(
  board: Board,
  learner: string,
  buffers: readonly Buffer[],
  features: number,
): HTMLElement {
  const sum = (isOf: (owner: string) => boolean): number =>
    buffers.reduce((bytes, [owner, , size]) => bytes + (isOf(owner) ? size : 0), 0);
  const parts: [string, string, number][] = [
    ["model", texts.memory.learner, sum((owner) => owner === "model")],
    ["companions", texts.memory.companions, sum((owner) => owner !== "model") + ROW_BYTES * features],
    ["overhead", texts.memory.overhead, board.overhead[learner]!.alone],
  ];
  const taken = parts.reduce((bytes, [, , size]) => bytes + size, 0);
  const left = board.heap_free_bytes - taken;
  const last = left < 0 ? texts.memory.over : texts.memory.free;
  const rows = [...parts, ["free", last, Math.abs(left)] as const].map(([key, name, size]) => [
    make("span", { class: `key ${key}` }, name),
    count(size),
  ]);
  return make(
    "div",
    { class: left < 0 ? "memory over" : "memory" },
    make("p", {}, texts.memory.sum(taken, board.heap_free_bytes, board.name)),
    bar(parts, Math.max(board.heap_free_bytes, taken)),
    table([], rows),
    details(buffers),
  );
}

function bar(parts: readonly [string, string, number][], whole: number): HTMLElement {
  const pieces = parts.map(([key, , size]) => {
    const piece = make("span", { class: key });
    piece.style.width = `${(100 * size) / whole}%`;
    return piece;
  });
  return make("div", { class: "bar", "aria-hidden": "true" }, ...pieces);
}

function details(buffers: readonly Buffer[]): HTMLElement {
  const rows = buffers.map(([, name, size]) => [name, count(size)]);
  return make(
    "details",
    {},
    make("summary", {}, texts.memory.buffers(buffers.length)),
    table([texts.memory.buffer, texts.memory.bytes], rows),
  );
}
