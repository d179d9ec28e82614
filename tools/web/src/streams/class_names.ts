// The classes of a stream and the labels' numbers, as the simulator's streams/class_names.py.

import { texts } from "../texts";
import { isMissing, type Where } from "./columns";
import { DataError } from "./data_error";

const MAX_CLASSES = 256; // a label is one byte
const INTEGER = /^[+-]?\d+$/;

/** Class names in numeric order if all are integers, else sorted by code points. */
export function classOrder(names: Iterable<string>): string[] {
  const ordered = [...names].sort(byCodePoints);
  if (ordered.every((name) => INTEGER.test(name))) {
    const value = (name: string): bigint => BigInt(name.replace(/^\+/, ""));
    ordered.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
  }
  return ordered;
}

/** Class indices and names: those that were declared, in their order, or those that occur. */
export function encodeLabels(
  cells: readonly string[],
  declared: readonly string[] | undefined,
  where: Where,
): { labels: Uint8Array; names: readonly string[] } {
  const first = new Map<string, number>();
  cells.forEach((cell, row) => {
    const isKnown = declared?.includes(cell);
    if (isMissing(cell) && !isKnown) throw new DataError(texts.errors.noClass(where(row)));
    if (!first.has(cell)) first.set(cell, row);
  });
  const names = declared ?? classOrder(first.keys());
  if (names.length < 2 || names.length > MAX_CLASSES) {
    throw new DataError(texts.errors.classCount(names.length));
  }
  const codes = new Map(names.map((name, code) => [name, code]));
  for (const [name, row] of first) {
    if (!codes.has(name)) throw new DataError(texts.errors.undeclared(where(row), name));
  }
  return { labels: Uint8Array.from(cells, (cell) => codes.get(cell)!), names };
}

function byCodePoints(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const gap = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!;
    if (gap) return gap;
  }
  return x.length - y.length;
}
