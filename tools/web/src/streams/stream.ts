// A labelled stream from a CSV or ARFF file, plain or packed with gzip.

import { texts } from "../texts";
import { arffColumns, arffRows, isArff, type Column } from "./arff";
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

/** The names of a file's columns. */
export function columnNames(name: string, text: string): readonly string[] {
  if (isArff(name)) return arffColumns(name, text).map((column) => column.name);
  const header = parseCsv(text.slice(0, 1 << 16))[0];
  return header?.cells ?? [];
}

/** The stream in a file; the class is in the column named `label`, by default in the last one. */
export function streamOf(name: string, text: string, label?: string): Stream {
  const { columns, rows } = isArff(name) ? arffTable(name, text) : csvTable(name, text);
  checkColumns(columns, label);
  for (const row of rows) checkWidth(row, columns.length);
  const place = label === undefined ? columns.length - 1 : columns.findIndex((c) => c.name === label);
  const features = [...columns.keys()].filter((column) => column !== place);
  const cells = (column: number): string[] => rows.map((row) => row.cells[column]!);
  const where = (column: number) => (row: number) =>
    texts.errors.where(name, rows[row]!.line, columns[column]!.name);
  const { declared } = columns[place]!;
  const { labels, names: classNames } = encodeLabels(cells(place), declared, where(place));
  const values = features.map((each) =>
    columnValues(columns[each]!, cells(each), WARMUP, where(each)),
  );
  const units = values.map(unitOf);
  values.forEach((column, feature) => leaveOutTooLarge(column, units[feature]!));
  const twoValued = values.flatMap((column, feature) => (isTwoValued(column) ? [feature] : []));
  const featureNames = features.map((each) => columns[each]!.name);
  return { name, featureNames, classNames, units, rows: rawRows(values, units), labels, twoValued };
}

interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

function arffTable(name: string, text: string): Table {
  const [columns, rows] = [arffColumns(name, text), arffRows(name, text)];
  if (!rows.length) throw new DataError(texts.errors.empty(name));
  return { columns, rows };
}

function csvTable(name: string, text: string): Table {
  const [header, ...rows] = parseCsv(text);
  if (!header || !rows.length) throw new DataError(texts.errors.empty(name));
  if (header.cells.every((cell) => numberOf(cell) !== null)) {
    throw new DataError(texts.errors.noHeader);
  }
  return { columns: header.cells.map((cell) => ({ name: cell })), rows };
}

function isTwoValued(column: Float64Array): boolean {
  return new Set(column.slice(0, WARMUP).filter((value) => !Number.isNaN(value))).size === 2;
}

function checkColumns(columns: readonly Column[], label: string | undefined): void {
  const names = columns.map(({ name }) => name);
  if (names.length < 2 || names.length > MAX_FEATURES + 1) {
    throw new DataError(texts.errors.columnCount(names.length - 1, MAX_FEATURES));
  }
  if (names.some((name) => !name) || new Set(names).size < names.length) {
    throw new DataError(texts.errors.columnNames);
  }
  if (label !== undefined && !names.includes(label)) {
    throw new DataError(texts.errors.noColumn(label));
  }
}

function checkWidth(row: Row, expected: number): void {
  if (row.cells.length !== expected) {
    throw new DataError(texts.errors.width(row.line, expected, row.cells.length));
  }
}
