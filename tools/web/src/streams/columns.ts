// A column of a file as numbers, as the simulator's streams/columns.py reads it.
//
// A feature holds numbers, or texts that are replaced by codes. An ARFF header declares which; a CSV
// file's column holds texts if all its cells among the first samples do.

import { texts } from "../texts";
import type { Column } from "./arff";
import { DataError } from "./data_error";

const MISSING_CELLS = new Set(
  ["", "?", "-", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "none"],
);
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;
const NOT_A_NUMBER = /^[+-]?nan$/i;
const MAX_CATEGORIES = 64; // of a column of texts
const MAX_DECLARED = 256; // of a nominal attribute
const FEW = 16; // different texts among the first samples that say nothing against a column

/** Says in words where the cell of a row stands. */
export type Where = (row: number) => string;

export function isMissing(cell: string): boolean {
  return MISSING_CELLS.has(cell);
}

/** The cell as a number; NaN if it is missing, null if it is text. */
export function numberOf(cell: string): number | null {
  if (isMissing(cell) || NOT_A_NUMBER.test(cell)) return NaN;
  const infinite = INFINITE.exec(cell);
  if (infinite) return infinite[1] === "-" ? -Infinity : Infinity;
  return NUMBER.test(cell) ? Number(cell) : null;
}

/** The column's values; `warmup` is how many of the first rows say what it holds. */
export function columnValues(
  column: Column,
  cells: readonly string[],
  warmup: number,
  where: Where,
): Float64Array {
  if (column.declared) return declaredCodes(column.declared, cells, where);
  const numbers = cells.map(numberOf);
  const text = numbers.indexOf(null);
  if (text < 0) {
    const far = numbers.findIndex((value) => Math.abs(value!) === Infinity);
    if (far >= 0) throw new DataError(texts.errors.infinite(where(far)));
    return Float64Array.from(numbers as number[]);
  }
  const early = numbers.slice(0, warmup).filter((value) => !Number.isNaN(value));
  if (column.numeric || !early.length || early.some((value) => value !== null)) {
    throw new DataError(texts.errors.text(where(text), cells[text]!));
  }
  return categoryCodes(cells, numbers, warmup, where);
}

/** The places of the cells among the values that were declared. */
function declaredCodes(
  declared: readonly string[],
  cells: readonly string[],
  where: Where,
): Float64Array {
  const codes = new Map(declared.map((value, code) => [value, code]));
  if (codes.size > MAX_DECLARED) {
    throw new DataError(texts.errors.manyDeclared(where(0), codes.size, MAX_DECLARED));
  }
  return Float64Array.from(cells, (cell, row) => {
    const code = codes.get(cell) ?? (isMissing(cell) ? NaN : null);
    if (code === null) throw new DataError(texts.errors.undeclared(where(row), cell));
    return code;
  });
}

function categoryCodes(
  cells: readonly string[],
  numbers: readonly (number | null)[],
  warmup: number,
  where: Where,
): Float64Array {
  const codes = new Map<string | number, number>(); // a number that turns up later is one more
  const lastEarly = Math.min(warmup, cells.length);
  let present = 0;
  return Float64Array.from(cells, (cell, row) => {
    const key = numbers[row] ?? cell;
    let code = NaN;
    if (!Number.isNaN(key)) {
      code = codes.get(key) ?? codes.size;
      codes.set(key, code);
      present++;
    }
    const tooMany = row + 1 === lastEarly && codes.size > Math.max(FEW, present / 2);
    if (tooMany || codes.size > MAX_CATEGORIES) {
      throw new DataError(texts.errors.categories(where(row), codes.size, row + 1));
    }
    return code;
  });
}
