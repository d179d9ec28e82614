// A labelled stream from a CSV or ARFF file, plain or packed with gzip. The file is read in pieces,
// so that it may be large, and whoever reads it can tell how far it is.

import { texts } from "../texts";
import { ArffReader, isArff, type Column } from "./arff";
import { LabelReader } from "./class_names";
import { ColumnReader, numberOf } from "./columns";
import { delimiterOf, RowReader, type Row } from "./csv";
import { DataError } from "./data_error";
import { piecesOf, type Kinds } from "./file_text";
import { checkHeader, checkRow } from "./header";
import { telltaleNote, type Names } from "./telltales";
import { leaveOutTooLarge, rawRows, unitOf, type Unit } from "./units";

export const WARMUP = 256; // samples after which the ranges are fixed, as `simulate` does it
const MAX_FEATURES = 256;
export const CLOCK = "time"; // the first column of what `record --time` writes
const READING = 0.8; // of the work; the rest is to find the units

/** Samples with their labels, in stream order; rows are raw integers, sample after sample. */
export interface Stream {
  readonly name: string;
  readonly featureNames: readonly string[];
  readonly classNames: readonly string[];
  readonly units: readonly Unit[];
  readonly rows: Int32Array;
  readonly labels: Uint8Array;
  readonly twoValued: readonly number[]; // features with exactly two values in the warm-up
  readonly notes: readonly string[]; // what the reader left out or doubts, a sentence each
}

/** What the host knows of files, too: of other kinds, and of names that give the answer away. */
export interface Told {
  readonly kinds: Kinds;
  readonly names: Names;
}

/** How a file is read: its class column, by default the last; columns that are left out; who is
 * told the share that is done. */
export interface Reading {
  readonly told: Told;
  readonly label?: string | undefined;
  readonly drop?: readonly string[];
  readonly progress?: (share: number) => void;
}

/** The names of a file's columns, of which no more than the header is read. */
export async function columnNames(name: string, file: Blob, told: Told): Promise<readonly string[]> {
  const found = await new TableReader(name).header(piecesOf(name, file, told.kinds));
  return found.map((column) => column.name);
}

/** The stream in a file. Throws DataError. */
export async function readStream(name: string, file: Blob, reading: Reading): Promise<Stream> {
  const { told, label, drop, progress } = reading;
  const counted = (bytes: number): void => progress?.((READING * bytes) / Math.max(file.size, 1));
  const table = new TableReader(name, label, drop);
  for await (const piece of piecesOf(name, file, told.kinds, counted)) table.read(piece);
  table.read("", true);
  return table.stream(told.names, progress);
}

class TableReader {
  private arff: ArffReader | undefined;
  private csv: RowReader | undefined;
  private head = ""; // of a CSV file, until its first line is there
  private columns: readonly Column[] | undefined;
  private early: Row[] | undefined = []; // rows that say what the columns hold
  private features: { readonly place: number; readonly reader: ColumnReader }[] = [];
  private labels!: LabelReader;
  private labelPlace = 0;
  private headerLine = 0;
  private readonly notes: string[] = [];

  constructor(
    private readonly name: string,
    private readonly label?: string,
    private readonly drop: readonly string[] = [],
  ) {
    if (isArff(name)) this.arff = new ArffReader(name);
  }

  /** The columns of a file that comes in these pieces; reads no further. */
  async header(pieces: AsyncIterable<string>): Promise<readonly Column[]> {
    for await (const piece of pieces) {
      this.read(piece);
      if (this.columns) return this.columns;
    }
    this.read("", true);
    return this.columns ?? [];
  }

  /** Read a piece of the text. */
  read(piece: string, isLast = false): void {
    for (const row of this.rows(piece, isLast)) this.row(row);
    if (this.arff?.columns && !this.columns) this.takeColumns(this.arff.columns);
    if (isLast) this.begin();
  }

  private *rows(piece: string, isLast: boolean): Generator<Row> {
    if (this.arff) {
      yield* this.arff.rows(piece, isLast);
      return;
    }
    if (!this.csv) {
      this.head += piece;
      if (!isLast && !/\S[^\r\n]*[\r\n]/.test(this.head)) return;
      if (/^\s*@relation/i.test(this.head)) {
        this.arff = new ArffReader(this.name);
        yield* this.arff.rows(this.head, isLast);
        return;
      }
      this.csv = new RowReader({ delimiter: delimiterOf(this.head), quote: '"', line: 1 });
      piece = this.head;
    }
    yield* this.csv.rows(piece, isLast);
  }

  private row(row: Row): void {
    if (this.arff?.columns && !this.columns) this.takeColumns(this.arff.columns);
    if (!this.columns) {
      if (row.cells.length - 1 > MAX_FEATURES) this.checkCount(row.cells.length - 1);
      checkHeader(this.name, row, this.label);
      this.headerLine = row.line;
      this.takeColumns(row.cells.map((name) => ({ name })));
      return;
    }
    checkRow(this.name, row, this.columns.length);
    if (!this.early) this.take(row);
    else if (this.early.push(row) === WARMUP) this.begin();
  }

  /** Choose the features and the class among the columns. */
  private takeColumns(columns: readonly Column[]): void {
    this.columns = columns;
    const names = columns.map(({ name }) => name);
    const twice = names.find((name, place) => names.indexOf(name) < place);
    if (twice !== undefined) throw new DataError(texts.errors.twice(this.name, twice));
    if (this.label !== undefined && !names.includes(this.label)) {
      throw new DataError(texts.errors.noColumn(this.label));
    }
    this.labelPlace = this.label === undefined ? names.length - 1 : names.indexOf(this.label);
    if (this.isClock(0)) this.notes.push(texts.notes.clock(CLOCK));
    this.checkCount(this.places.length);
  }

  private get places(): number[] {
    const all = [...this.columns!.keys()];
    const isOut = (place: number): boolean => this.drop.includes(this.columns![place]!.name);
    return all.filter((place) => place !== this.labelPlace && !this.isClock(place) && !isOut(place));
  }

  private isClock(place: number): boolean {
    const columns = this.columns!;
    if (this.drop.length) return false; // whoever chooses has chosen
    const isFirst = place === 0 && this.labelPlace !== 0 && columns.length > 2;
    return isFirst && columns[0]!.name === CLOCK;
  }

  private checkCount(features: number): void {
    if (features >= 1 && features <= MAX_FEATURES) return;
    throw new DataError(texts.errors.columnCount(features, MAX_FEATURES));
  }

  /** The first rows are there: they say what the columns hold. */
  private begin(): void {
    const { early, columns } = this;
    if (!early) return;
    if (!columns || !early.length) throw new DataError(texts.errors.empty(this.name));
    this.early = undefined;
    const lines = early.map(({ line }) => line);
    const where = (column: Column) => (line: number) =>
      texts.errors.where(this.name, line, column.name);
    this.features = this.places.map((place) => {
      const column = columns[place]!;
      const cells = early.map((row) => row.cells[place]!);
      return { place, reader: new ColumnReader(column, cells, where(column), lines) };
    });
    const label = columns[this.labelPlace]!;
    this.labels = new LabelReader(label.declared, where(label));
    early.forEach((row) => this.take(row));
  }

  private take({ line, cells, written }: Row): void {
    this.labels.read(cells[this.labelPlace]!, line, written[this.labelPlace]!);
    for (const { place, reader } of this.features) reader.read(cells[place]!, line);
  }

  /** What is said of a header that could be a sample just as well. */
  private headerNotes(): string[] {
    if (this.arff) return [];
    const names = this.columns!.map(({ name }) => name);
    const isDoubtful =
      names.some((name) => numberOf(name) !== null) ||
      this.labels.has(names[this.labelPlace]!) ||
      this.features.some(({ place, reader }) => reader.has(names[place]!));
    return isDoubtful ? [texts.notes.header(this.name, this.headerLine)] : [];
  }

  /** What was read, as a stream. */
  stream(names: Names, progress: Reading["progress"]): Stream {
    const { labels, names: classNames, notes } = this.labels.all;
    const values = this.features.map(({ reader }) => reader.all);
    const featureNames = this.features.map(({ place }) => this.columns![place]!.name);
    const telltales = values.map((column, feature) =>
      telltaleNote(this.name, featureNames[feature]!, column, labels, names),
    );
    const units = values.map((column, feature) => {
      const unit = unitOf(column);
      leaveOutTooLarge(column, unit);
      progress?.(READING + ((1 - READING) * (feature + 1)) / values.length);
      return unit;
    });
    const twoValued = values.flatMap((column, feature) => (isTwoValued(column) ? [feature] : []));
    const rows = rawRows(values, units);
    const all = [...this.notes, ...notes, ...this.headerNotes(), ...telltales.filter(Boolean)];
    return { name: this.name, featureNames, classNames, units, rows, labels, twoValued, notes: all };
  }
}

function isTwoValued(column: Float64Array): boolean {
  return new Set(column.slice(0, WARMUP).filter((value) => !Number.isNaN(value))).size === 2;
}
