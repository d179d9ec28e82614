// Rows of JSON, as the simulator's streams/json_rows.py reads them: a record a line, a list of
// records, lists that are columns, or an export of Edge Impulse. The whole text is in memory.

import { texts } from "../texts";
import type { Row } from "./csv";
import { DataError, readByCommand } from "./data_error";
import { isMissing } from "./columns";
import { JSON_FILE } from "./file_text";
import { isNumberLike, isNumeric } from "./log_lines";

const HEAD = 400; // records that determine the columns
const CLOCK = "time"; // the column of the moments of Edge Impulse's readings
const LISTS = ["samples", "data", "records", "rows", "values"];

export interface JsonRows {
  readonly names: readonly string[];
  readonly rows: readonly Row[];
  readonly cut: readonly number[]; // places of values that are no records
  readonly again: readonly number[]; // places of records that repeat the names of the columns
  readonly note: string;
}

export function isJson(start: string): boolean {
  return /^\s*(\{\s*("|\}|$)|\[\s*[[{"])/.test(start.replace(/^\ufeff/, ""));
}

type Value = unknown;
type Record = { readonly [name: string]: Value };

const isRecord = (value: Value): value is Record =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Return the rows of a JSON text. Throws DataError for a file that only the command line reads. */
export function jsonRows(name: string, text: string): JsonRows {
  const refused = (): DataError =>
    new DataError(texts.errors.notCsv(name, JSON_FILE, texts.errors.saveAsCsv));
  const values = valuesOf(text);
  const [first] = values;
  if (values.length === 1 && isRecord(first)) {
    const payload = first["payload"];
    if (isRecord(payload) && Array.isArray(payload["values"])) return ofEdgeImpulse(name, payload);
    const lists = Object.keys(first).filter((key) => Array.isArray(first[key]));
    const only = lists[0];
    if (lists.length === 1 && LISTS.includes(only!) && isRecord((first[only!] as Value[])[0])) {
      return ofRecords(name, first[only!] as Value[], texts.notes.jsonIn(only!), refused);
    }
    return ofColumns(first, refused);
  }
  return ofRecords(name, values, texts.notes.jsonRecords, refused);
}

/** Return the values of a list, of a document, or of each line; undefined for a cut value. */
function valuesOf(text: string): Value[] {
  try {
    const whole: Value = JSON.parse(text.replace(/^\ufeff/, ""));
    return Array.isArray(whole) ? whole : [whole];
  } catch {
    const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim());
    return lines.map((line) => {
      try {
        return JSON.parse(line) as Value;
      } catch {
        return undefined;
      }
    });
  }
}

function ofRecords(
  name: string,
  values: readonly Value[],
  note: string,
  refused: () => DataError,
): JsonRows {
  const cut: number[] = [];
  const records: { readonly line: number; readonly cells: Map<string, string> }[] = [];
  values.forEach((value, place) => {
    const isOne = isRecord(value) || Array.isArray(value);
    if (!isOne && !records.length) throw refused();
    if (!isOne) cut.push(place + 1);
    else records.push({ line: place + 1, cells: flat(value) });
  });
  const keys = namesOf(records.slice(0, HEAD).map(({ cells }) => cells));
  if (!keys.length) throw refused();
  const allRows = records.map(({ line, cells }) => row(line, keys.map((key) => cells.get(key) ?? "")));
  const isHeaded = Array.isArray(values[0]) && namesColumns(allRows.slice(0, HEAD));
  const names = isHeaded ? allRows.shift()!.cells : keys;
  if (isHeaded) records.shift();
  const isHeader = records.map(({ cells }) => isSame([...cells.values()], names));
  const isKnown = new Set(keys);
  if (records.some(({ cells }, at) => !isHeader[at] && [...cells.keys()].some((key) => !isKnown.has(key)))) {
    throw readByCommand(name, refused().message);
  }
  const rows = allRows.filter((_, at) => !isHeader[at]);
  const again = allRows.filter((_, at) => isHeader[at]).map(({ line }) => line);
  return { names, rows, cut, again, note };
}

/** Return all names of these records, in order; a record that only repeats the names is left out. */
function namesOf(records: readonly Map<string, string>[]): string[] {
  const names = new Set<string>();
  for (const cells of records) {
    if (!isSame([...cells.values()], [...names])) for (const key of cells.keys()) names.add(key);
  }
  return [...names];
}

const isSame = (cells: readonly string[], names: readonly string[]): boolean =>
  cells.length === names.length && cells.every((cell, place) => cell === names[place]);

/** Return whether the first of these rows names the columns: it has a text where the others have numbers. */
function namesColumns([first, ...body]: readonly Row[]): boolean {
  const isOfNumbers = (place: number): boolean => isNumeric(body.map(({ cells }) => cells[place]!));
  return first!.cells.some((cell, place) => !isMissing(cell) && !isNumberLike(cell) && isOfNumbers(place));
}

function ofColumns(document: Record, refused: () => DataError): JsonRows {
  const names = Object.keys(document);
  const columns = names.map((key) => {
    const column = document[key];
    return isRecord(column) ? Object.values(column) : column;
  });
  const [first] = columns;
  const length = Array.isArray(first) ? first.length : 0;
  const cells = columns.map((column) => {
    const isFlat = Array.isArray(column) && column.every((each) => typeof each !== "object" || each === null);
    if (!isFlat || !length || column.length !== length) throw refused();
    return column.map(cellOf);
  });
  const rows = Array.from({ length }, (_, place) => row(place + 1, cells.map((each) => each[place]!)));
  return { names, rows, cut: [], again: [], note: texts.notes.jsonLists };
}

/** Return the rows of named sensors with a reading at a fixed interval. */
function ofEdgeImpulse(name: string, payload: Record): JsonRows {
  const sensors = Array.isArray(payload["sensors"]) ? (payload["sensors"] as Record[]) : [];
  const values = (payload["values"] as Value[]).map((value) => (Array.isArray(value) ? value : [value]));
  const width = Math.max(sensors.length, values[0]?.length ?? 0);
  const names = Array.from({ length: width }, (_, place) =>
    String(sensors[place]?.["name"] ?? `c${place + 1}`),
  );
  const interval = Number(payload["interval_ms"] ?? 0);
  const isTimed = interval > 0 && !names.includes(CLOCK);
  const rows = values.map((value, place) => {
    if (value.length !== width) {
      const where = texts.errors.line(name, place + 1);
      throw new DataError(texts.errors.width(where, width, value.length));
    }
    const time = String(Number((place * interval).toPrecision(10)));
    return row(place + 1, [...(isTimed ? [time] : []), ...value.map(cellOf)]);
  });
  return { names: isTimed ? [CLOCK, ...names] : names, rows, cut: [], again: [], note: texts.notes.jsonEdge };
}

function row(line: number, cells: readonly string[]): Row {
  const trimmed = cells.map((cell) => cell.trim());
  return { line, cells: trimmed, written: trimmed };
}

/** Return the cells of a record; nested cells have the outer names in front. */
function flat(value: Value, before = "", into = new Map<string, string>()): Map<string, string> {
  const isList = Array.isArray(value);
  for (const [key, each] of Object.entries(value as object)) {
    const isTop = isList && before === "";
    const name = isTop ? `c${Number(key) + 1}` : `${before}${isList ? Number(key) + 1 : key}`;
    if (typeof each === "object" && each !== null) flat(each, `${name}.`, into);
    else into.set(name, cellOf(each));
  }
  return into;
}

function cellOf(value: Value): string {
  return value === null || value === undefined ? "" : String(value);
}
