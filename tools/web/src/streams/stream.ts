// A labelled stream from a CSV file, plain or packed with gzip.

import { texts } from "../texts";
import { encodeLabels } from "./class_names";
import { columnValues, numberOf } from "./columns";
import { parseCsv, type Row } from "./csv";
import { DataError } from "./data_error";
import { leaveOutTooLarge, rawRows, unitOf, type Unit } from "./units";

export const WARMUP = 256; // samples after which the ranges are fixed, as `simulate` does it
const MAX_FEATURES = 256;

/** Samples with their labels, in stream order; rows are raw integers, sample after sample. */
export interface Stream {
  readonly name: string;
  readonly featureNames: readonly string[];
  readonly classNames: readonly string[];
  readonly units: readonly Unit[];
  readonly rows: Int32Array;
  readonly labels: Uint8Array;
  readonly twoValued: readonly number[]; // features with exactly two values in the warm-up
}

/** The text of a file; one whose name ends in .gz is unpacked. */
export async function textOf(name: string, file: Blob): Promise<string> {
  const packed = name.toLowerCase().endsWith(".gz");
  const source = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  try {
    const bytes = await new Response(source).arrayBuffer();
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DataError(packed ? texts.errors.gzip(name) : texts.errors.utf8(name));
  }
}

/** The names of a table's columns. */
export function columnNames(text: string): readonly string[] {
  const header = parseCsv(text.slice(0, 1 << 16))[0];
  return header?.cells ?? [];
}

/** The stream in a table; the class is in the column named `label`, by default in the last one. */
export function streamOf(name: string, text: string, label?: string): Stream {
  const [header, ...rows] = parseCsv(text);
  if (!header || !rows.length) throw new DataError(texts.errors.empty(name));
  const names = header.cells;
  checkHeader(names, label);
  for (const row of rows) checkWidth(row, names.length);
  const place = label === undefined ? names.length - 1 : names.indexOf(label);
  const featureNames = names.filter((_, column) => column !== place);
  const cells = (column: number): string[] => rows.map((row) => row.cells[column]!);
  const where = (column: number) => (row: number) =>
    texts.errors.where(name, rows[row]!.line, names[column]!);
  const { labels, names: classNames } = encodeLabels(cells(place), WARMUP, where(place));
  const columns = names
    .map((_, column) => column)
    .filter((column) => column !== place)
    .map((column) => columnValues(cells(column), WARMUP, where(column)));
  const units = columns.map(unitOf);
  columns.forEach((column, feature) => leaveOutTooLarge(column, units[feature]!));
  const twoValued = columns.flatMap((column, feature) => (isTwoValued(column) ? [feature] : []));
  const raw = rawRows(columns, units);
  return { name, featureNames, classNames, units, rows: raw, labels, twoValued };
}

function isTwoValued(column: Float64Array): boolean {
  return new Set(column.slice(0, WARMUP).filter((value) => !Number.isNaN(value))).size === 2;
}

function checkHeader(names: readonly string[], label: string | undefined): void {
  if (names.length < 2 || names.length > MAX_FEATURES + 1) {
    throw new DataError(texts.errors.columnCount(names.length - 1, MAX_FEATURES));
  }
  if (names.some((name) => !name) || new Set(names).size < names.length) {
    throw new DataError(texts.errors.columnNames);
  }
  if (names.every((name) => numberOf(name) !== null)) throw new DataError(texts.errors.noHeader);
  if (label !== undefined && !names.includes(label)) {
    throw new DataError(texts.errors.noColumn(label));
  }
}

function checkWidth(row: Row, expected: number): void {
  if (row.cells.length !== expected) {
    throw new DataError(texts.errors.width(row.line, expected, row.cells.length));
  }
}
