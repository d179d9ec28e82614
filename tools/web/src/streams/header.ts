// Checks whether the first row of a CSV file names its columns, as the simulator's
// streams/csv_rows.py does.

import { texts } from "../texts";
import { numberOf } from "./columns";
import type { Row } from "./csv";
import { DataError, readByCommand } from "./data_error";

// Columns of tables with a row for each value, which the command line converts
const LONG_TABLES = [
  ["_time", "_value", "_field"],
  ["entity_id", "state"],
];
// A number after a bracket, a count or a clock, or a dictionary, as in a log
const ODD = /^\{\s*'|^[[({<]\s*[-+]?[.\d]+$|^\d+:\s+[-+]?\.?\d[\d.,]*\s*\S{0,9}$|\d\s*->/u;
// A name and its value, as in a log
const PAIR = /^([\p{L}_][\p{L}\p{N}_ .\/-]{0,30}?)\s*[:=]\s*[-+]?\.?\d[\d.,]*\s*\S{0,9}$/u;

/** Return the cell that makes a row a line of a log; columns such as elevel=0, elevel=1 do not. */
function oddCell(cells: readonly string[]): string | undefined {
  const odd = cells.find((cell) => ODD.test(cell));
  if (odd !== undefined) return odd;
  const names = cells.slice(0, Math.max(cells.length - 1, 1)).map((cell) => PAIR.exec(cell)?.[1]);
  const pairs = !names.includes(undefined) && new Set(names).size === names.length;
  return pairs ? cells[0] : undefined;
}

/** Throw DataError if this row of the file cannot be a header. */
export function checkHeader(name: string, { line, cells }: Row, label: string | undefined): void {
  const where = texts.errors.line(name, line);
  const isLong = LONG_TABLES.some((names) => names.every((each) => cells.includes(each)));
  if (isLong || /^#(group|datatype|default)$/.test(cells[0]!)) {
    throw readByCommand(name, texts.errors.longTable(name));
  }
  if (/^#+\s*[^#\s]/.test(cells[0]!)) throw new DataError(texts.errors.commentHeader(where));
  if (/^sep=/i.test(cells[0]!)) throw new DataError(texts.errors.excelWord(where, cells[0]!));
  const odd = oddCell(cells);
  if (odd !== undefined) {
    throw readByCommand(name, texts.errors.oddCell(where, JSON.stringify(odd)));
  }
  const last = cells.length - 1;
  const classPlace = label !== undefined && cells.includes(label) ? cells.indexOf(label) : last;
  const counts = new Map<string, number>();
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  cells.forEach((cell, place) => {
    const value = numberOf(cell);
    const isNumber = value !== null && Number.isFinite(value);
    const isName = /^[0-9]+$/.test(cell) && counts.get(cell) === 1; // a name by pandas: 0, 1, 2 ...
    if (place !== classPlace && isNumber && !isName) {
      throw readByCommand(name, texts.errors.sample(where, cell));
    }
  });
  cells.forEach((cell, place) => {
    if (!cell) throw new DataError(texts.errors.nameless(where, place + 1));
  });
  checkTwice(where, cells);
  if (cells.every((cell) => numberOf(cell) !== null)) {
    throw readByCommand(name, texts.errors.noHeader(where));
  }
}

/** Throw DataError if columns have the same name. */
export function checkTwice(where: string, names: readonly string[]): void {
  const twice = [...new Set(names.filter((name, place) => names.indexOf(name) < place))];
  if (!twice.length) return;
  const each = twice.map((name) => {
    const places = names.flatMap((other, place) => (other === name ? [place + 1] : []));
    return texts.errors.namedAlike(name, places);
  });
  throw new DataError(texts.errors.twice(where, each));
}

/** Throw DataError if a row is a comment, or has another number of columns. */
export function checkRow(name: string, { line, cells }: Row, columns: number): void {
  const first = cells[0]!;
  const isComment = first.startsWith("#") && (cells.length !== columns || /^.{1,2} /.test(first));
  const where = texts.errors.line(name, line);
  if (isComment) throw new DataError(texts.errors.comment(where));
  if (cells.length !== columns) {
    throw new DataError(texts.errors.width(where, columns, cells.length));
  }
}
