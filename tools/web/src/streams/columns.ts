// A column of a file as numbers, as the simulator's streams/columns.py reads it.
//
// A feature holds numbers, or texts that are replaced by codes. An ARFF header declares which; a CSV
// file's column holds texts if all its cells among the first samples do.

import { LIMITS, MISSING_CELLS } from "../shared";
import { texts } from "../texts";
import type { Column } from "./arff";
import { DataError } from "./data_error";

const missing = new Set(MISSING_CELLS);
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;
const NOT_A_NUMBER = /^[+-]?nan$/i;
const THOUSANDS = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/;
const APART = /[ \u00a0\u2009\u202f'\u2019]/g; // separators of thousands in other countries
const GROUPED = /^[+-]?\d{1,3}([ \u00a0\u2009\u202f'\u2019]\d{3})+([.,]\d+)?$/;
const NEARLY = 0.95; // share of the texts of a column
const DECIMAL_COMMA = /^[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+$/;
const WITH_UNIT = /^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(\s*)(\p{L}[^\s,;:]{0,9}|[%°‰]\S{0,9})$/u;
const FEW_CLASSES = 32; // texts of a column that may be the class
const FEW = 16; // different texts among the first samples up to which a column is accepted

/** Returns the place of the column's cell in a line, in words. */
export type Where = (line: number) => string;

export function isMissing(cell: string): boolean {
  return missing.has(cell);
}

/** Return the cell as a number; NaN if it is missing, null if it is text. */
export function numberOf(cell: string): number | null {
  if (NUMBER.test(cell)) return Number(cell);
  if (isMissing(cell) || NOT_A_NUMBER.test(cell)) return NaN;
  const infinite = INFINITE.exec(cell);
  if (infinite) return infinite[1] === "-" ? -Infinity : Infinity;
  return null;
}

/** A growing array of numbers. */
export class Numbers {
  private kept = new Float64Array(1024);
  private size = 0;

  push(value: number): void {
    if (this.size === this.kept.length) {
      const more = new Float64Array(2 * this.size);
      more.set(this.kept);
      this.kept = more;
    }
    this.kept[this.size++] = value;
  }

  /** The numbers so far. */
  get all(): Float64Array {
    return this.kept.subarray(0, this.size);
  }
}

/** A column as it is read, row by row. */
export class ColumnReader {
  private readonly numbers = new Numbers();
  private readonly value: (cell: string, line: number) => number;
  private readonly codes: Map<string | number, number>;
  private readonly isOfTexts: boolean = false;
  private rows = 0;
  private present = 0;

  /** `early` are the cells of the first rows, which show what the column holds; they are still to be read. */
  constructor(
    column: Column,
    private readonly early: readonly string[],
    private readonly where: Where,
    lines: readonly number[],
  ) {
    this.codes = new Map((column.declared ?? []).map((value, code) => [value, code]));
    if (this.codes.size > LIMITS.declared) {
      throw new DataError(texts.errors.manyDeclared(where(lines[0]!), this.codes.size, LIMITS.declared));
    }
    const numbers = early.map(numberOf);
    const present = numbers.filter((value) => !Number.isNaN(value));
    const areTexts = present.length > 0 && present.every((value) => value === null);
    if (column.declared) this.value = this.declared;
    else if (column.numeric || !areTexts) this.value = this.number;
    else {
      this.refuseNumbers(lines);
      this.isOfTexts = true;
      this.value = this.category;
    }
  }

  /** Read the next row's cell. Throws DataError if it does not fit. */
  read(cell: string, line: number): void {
    this.numbers.push(this.value(cell, line));
  }

  get all(): Float64Array {
    return this.numbers.all;
  }

  /** Whether the column has a few texts, as a class does. */
  get isLikeClass(): boolean {
    return this.isOfTexts && this.codes.size >= 2 && this.codes.size <= FEW_CLASSES;
  }

  get isOfNumbers(): boolean {
    return !this.isOfTexts;
  }

  /** Return whether a cell of a column of texts is this text. */
  has(text: string): boolean {
    return this.codes.has(text);
  }

  private number(cell: string, line: number): number {
    const value = numberOf(cell);
    if (value === null) {
      const advice = numberInWords(cell);
      const where = this.where(line);
      throw new DataError(advice ? texts.errors.people(where, advice) : texts.errors.text(where, cell));
    }
    if (Math.abs(value) === Infinity) throw new DataError(texts.errors.infinite(this.where(line)));
    return value;
  }

  /** Return the place of the cell among the declared values. */
  private declared(cell: string, line: number): number {
    const code = this.codes.get(cell) ?? (isMissing(cell) ? NaN : null);
    if (code === null) throw new DataError(texts.errors.undeclared(this.where(line), cell));
    return code;
  }

  private category(cell: string, line: number): number {
    const key = numberOf(cell) ?? cell; // a number that appears later is one more text
    this.rows++;
    let code = NaN;
    if (!Number.isNaN(key)) {
      code = this.codes.get(key) ?? this.codes.size;
      this.codes.set(key, code);
      this.present++;
    }
    const tooMany =
      this.rows === this.early.length && this.codes.size > Math.max(FEW, this.present / 2);
    if (tooMany || this.codes.size > LIMITS.categories) {
      throw new DataError(texts.errors.categories(this.where(line), this.codes.size, this.rows));
    }
    return code;
  }

  /** Refuse texts that are numbers for people: with commas, all with units, or nearly all with
   * thousands set apart. */
  private refuseNumbers(lines: readonly number[]): void {
    const isText = (cell: string): boolean => numberOf(cell) === null;
    const cells = this.early.filter(isText);
    const withUnits = cells.every(hasUnit);
    const grouped = cells.filter((cell) => GROUPED.test(cell)).length >= NEARLY * cells.length;
    this.early.forEach((cell, row) => {
      const mayBeText = (hasUnit(cell) && !withUnits) || (GROUPED.test(cell) && !grouped);
      const advice = isText(cell) && !mayBeText ? numberInWords(cell) : "";
      if (advice) throw new DataError(texts.errors.people(this.where(lines[row]!), advice));
    });
  }
}

/** Return a message on a text that is a number for people, with the right form; "" for any other text. */
function numberInWords(cell: string): string {
  const plain = cell.replaceAll(",", "");
  if (THOUSANDS.test(cell)) {
    const isEither = cell.indexOf(",") === cell.lastIndexOf(",") && !cell.includes(".");
    if (!isEither) return texts.errors.thousands(cell, plain);
    return texts.errors.comma(cell, plain, cell.replace(",", "."));
  }
  if (GROUPED.test(cell)) {
    const number = cell.replace(APART, "").replace(",", ".");
    return texts.errors.grouped(cell, number, cell.replace(APART, "_"));
  }
  if (DECIMAL_COMMA.test(cell)) {
    return texts.errors.decimalComma(cell, cell.replaceAll(".", "").replace(",", "."));
  }
  return hasUnit(cell) ? texts.errors.unit(cell, WITH_UNIT.exec(cell)![1]!) : "";
}

/** Return whether a cell is like 1.5g, 2 m/s or 3%, but not like 3rd. */
function hasUnit(cell: string): boolean {
  const [, number, blanks, unit] = WITH_UNIT.exec(cell) ?? [];
  return unit !== undefined && (number!.includes(".") || blanks !== "" || !/^\p{L}/u.test(unit));
}
