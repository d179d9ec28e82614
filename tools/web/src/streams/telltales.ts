// Columns that give the answer away in a file, and will not on a board, as the simulator's
// streams/label_leakage.py notes them: clocks, row numbers, identifiers, copies of the class.

import { TELLTALE_NAMES } from "../shared";
import { texts } from "../texts";

const STEPS = 16; // at least, of a column that only rises, or only falls
const FEWEST = 30; // samples from which on a column that matches the class does not do so by chance
const NEARLY = 0.95; // share of the samples of each class, and of each value

/** Return a note on a column that gives the answer away; "" for any other. */
export function telltaleNote(
  file: string,
  name: string,
  column: Float64Array,
  labels: Uint8Array,
): string {
  const meaning = meaningOf(name);
  const reasons = [
    ...(only(column, 1) ? [texts.notes.rises] : []),
    ...(only(column, -1) ? [texts.notes.falls] : []),
    ...(tells(column, labels) ? [texts.notes.tells] : []),
    ...(meaning ? [texts.notes.named(meaning)] : []),
  ];
  return reasons.length ? texts.notes.telltale(file, name, reasons) : "";
}

/** Return the possible meaning of a column's name, in words. */
function meaningOf(name: string): string {
  const spaced = name.replace(/([a-z])(?=I[dD]$)/, "$1_"); // sampleId
  const bare = spaced.toLowerCase().replace(/[([].*/, "");
  const plain = bare.replace(/[^a-z0-9#]+/g, "_").replace(/^_+|_+$/g, "");
  return TELLTALE_NAMES.find(([pattern]) => new RegExp(`^(?:${pattern})$`).test(plain))?.[1] ?? "";
}

/** Return whether many numbers are above the one before (way 1) or below it (-1), and none the other way. */
function only(column: Float64Array, way: 1 | -1): boolean {
  let steps = 0;
  let last = NaN;
  for (const value of column) {
    if (Number.isNaN(value)) continue;
    if (way * (value - last) < 0) return false;
    if (value !== last && !Number.isNaN(last)) steps++;
    last = value;
  }
  return steps >= STEPS;
}

/** Return whether each class has a value of its own, and each value a class. */
function tells(column: Float64Array, labels: Uint8Array): boolean {
  if (labels.length < FEWEST) return false;
  const classes = labels.reduce((a, b) => Math.max(a, b), 0) + 1;
  const counts = new Map<number, number[]>(); // for each value, its samples by class
  for (let row = 0; row < column.length; row++) {
    const value = column[row]!;
    let ofValue = counts.get(value);
    if (!ofValue) {
      if (counts.size > 2 * classes + 8) return false;
      counts.set(value, (ofValue = new Array<number>(classes).fill(0)));
    }
    ofValue[labels[row]!]!++;
  }
  const rows = [...counts.values()];
  const known = [...Array(classes).keys()].filter((label) => rows.some((row) => row[label]));
  return (
    known.length > 1 &&
    known.every((label) => {
      const ofLabel = rows.map((row) => row[label]!);
      const all = ofLabel.reduce((a, b) => a + b, 0);
      const usual = rows.filter((row) => row.indexOf(Math.max(...row)) === label);
      const matching = usual.reduce((sum, row) => sum + row[label]!, 0);
      return Math.min(matching, Math.max(...ofLabel)) >= NEARLY * all;
    })
  );
}
