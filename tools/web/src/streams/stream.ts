// A labelled stream from a CSV or ARFF file, plain or packed with gzip. The file is read in pieces,
// so that it may be large, and the reader can report its progress.

import { LIMITS } from "../shared";
import { texts } from "../texts";
import { ArffReader, isArff, type Column } from "./arff";
import { LabelReader } from "./class_names";
import { cellForms, type CellForm } from "./cell_forms";
import { ColumnReader, isMissing, numberOf } from "./columns";
import { delimiterOf, RowReader, type Row } from "./csv";
import { DataError, readByCommand } from "./data_error";
import { piecesOf } from "./file_text";
import { checkHeader, checkRow, checkTwice } from "./header";
import { isJson, jsonRows, type JsonRows } from "./json_rows";
import { boardOutput, isNumberLike, LinesLeftOut, recordLines, tellsUnits, withoutColours, type Odd } from "./log_lines";
import { telltaleNote } from "./telltales";
import { leaveOutTooLarge, rawRows, unitOf, type Unit } from "./units";

export const WARMUP = LIMITS.warmup; // samples after which the ranges are fixed
export const CLOCK = "time"; // the first column of a file of `record --time`
const ABOVE = 20; // lines of text above a header, at most
const READING = 0.8; // share of the work; the rest finds the units

/** Samples with their labels, in stream order; rows are raw integers, sample after sample. */
export interface Stream {
  readonly name: string;
  readonly featureNames: readonly string[];
  readonly classNames: readonly string[];
  readonly units: readonly Unit[];
  readonly rows: Int32Array;
  readonly labels: Uint8Array;
  readonly twoValued: readonly number[]; // features with exactly two values in the warm-up
  readonly notes: readonly string[]; // on data that the reader left out or doubts, a sentence each
}

/** How a file is read: its class column, by default the last; columns that are left out; the callback
 * for the share that is done. */
export interface Reading {
  readonly label?: string | undefined;
  readonly drop?: readonly string[];
  readonly progress?: (share: number) => void;
}

/** Return the names of a file's columns; only the header is read. */
export async function columnNames(name: string, file: Blob): Promise<readonly string[]> {
  const columns = await new TableReader(name).header(piecesOf(name, file));
  return columns.map((column) => column.name);
}

/** Read the stream in a file. Throws DataError. */
export async function readStream(name: string, file: Blob, reading: Reading): Promise<Stream> {
  const { label, drop, progress } = reading;
  const counted = (bytes: number): void => progress?.((READING * bytes) / Math.max(file.size, 1));
  const table = new TableReader(name, label, drop);
  const notUtf8 = (line: number): void => table.note(texts.notes.notUtf8(name, line));
  await table.readAll(piecesOf(name, file, counted, notUtf8));
  return table.stream(progress);
}

class TableReader {
  private arff: ArffReader | undefined;
  private csv: RowReader | undefined;
  private head = ""; // the start of a CSV file, until its first line is complete
  private columns: readonly Column[] | undefined;
  private early: Row[] | undefined = []; // rows that show what the columns hold
  private features: { readonly place: number; readonly reader: ColumnReader }[] = [];
  private labels!: LabelReader;
  private labelPlace = 0;
  private headerLine = 0;
  private readonly notes: string[] = [];
  private readonly above: Row[] = []; // lines that are no header if rows of several cells follow
  private readonly leftOut = new LinesLeftOut();
  private waiting: Row | undefined; // a row of another length: cut if no sample follows
  private isBroken = false; // the line before was no sample
  private hasNumbers = false;
  private isWhole = true; // the text ends with the end of a line
  private isMade = false; // the rows are made of another kind of file
  private forms: readonly (CellForm | null)[] = [];

  constructor(
    private readonly name: string,
    private readonly label?: string,
    private readonly drop: readonly string[] = [],
  ) {
    if (isArff(name)) this.arff = new ArffReader(name);
  }

  /** Return the columns of a file in pieces; read no further. */
  async header(pieces: AsyncIterable<string>): Promise<readonly Column[]> {
    await this.readAll(pieces, () => this.columns !== undefined);
    return this.columns ?? [];
  }

  /** Read all pieces, or as many as needed. */
  async readAll(pieces: AsyncIterable<string>, isEnough = (): boolean => false): Promise<void> {
    let json: string | undefined;
    let isFirst = true;
    for await (const piece of withoutColours(pieces)) {
      if (isFirst && isJson(piece)) json = "";
      isFirst = false;
      if (json === undefined) this.read(piece);
      else json += piece;
      if (isEnough()) return;
    }
    if (json === undefined) this.read("", true);
    else this.takeJson(jsonRows(this.name, json));
  }

  /** Add a sentence on how the file is read. */
  note(text: string): void {
    this.notes.push(text);
  }

  private takeJson({ names, rows, cut, again, note }: JsonRows): void {
    this.isMade = true;
    this.takeColumns(names.map((name) => ({ name })));
    for (const row of rows) this.push(row);
    for (const record of cut) this.leftOut.add("cut", texts.notes.record(record));
    for (const record of again) this.leftOut.add("header", texts.notes.record(record));
    this.notes.push(`${this.name}: ${note}.`);
    this.begin();
  }

  /** Read a piece of the text. */
  private read(piece: string, isLast = false): void {
    if (piece) this.isWhole = /[\r\n]$/.test(piece);
    for (const row of this.rows(piece, isLast)) this.row(row);
    if (this.arff?.columns && !this.columns) this.takeColumns(this.arff.columns);
    if (!isLast) return;
    this.takeAbove();
    if (this.waiting && this.leftOut.any && !this.isWhole) this.leaveOut("cut", this.waiting);
    else this.checkWaiting();
    this.begin();
  }

  private *rows(piece: string, isLast: boolean): Generator<Row> {
    if (this.arff) {
      yield* this.arff.rows(piece, isLast);
      return;
    }
    if (!this.csv) {
      this.head += piece;
      const first = this.firstLine(isLast);
      if (first === undefined && !isLast) return;
      const format = recordLines(first ?? "");
      if (format) throw readByCommand(this.name, texts.errors.recordLines(this.name, format));
      if (/^\s*@relation/i.test(this.head)) {
        this.arff = new ArffReader(this.name);
        yield* this.arff.rows(this.head, isLast);
        return;
      }
      this.csv = new RowReader({ delimiter: delimiterOf(first ?? this.head), quote: '"', line: 1 });
      piece = this.head;
    }
    yield* this.csv.rows(piece, isLast);
  }

  /** Return the first line that may be the header, or a sample. */
  private firstLine(isLast: boolean): string | undefined {
    const lines = this.head.split(/\r\n|\r|\n/);
    if (!isLast) lines.pop();
    return lines.find((line) => line.trim() && !boardOutput(line) && !line.startsWith("#"));
  }

  private row(row: Row): void {
    if (this.arff) {
      if (this.arff.columns && !this.columns) this.takeColumns(this.arff.columns);
      checkRow(this.name, row, this.columns!.length);
      this.push(row);
      return;
    }
    const board = boardOutput(row.written.join(","));
    if (board) this.leaveOut(board, row);
    else if (this.columns) this.sample(row);
    else this.mayBeHeader(row);
  }

  /** Take a row that may be the header, or a line of text above it. */
  private mayBeHeader(row: Row): void {
    const isAlone = row.cells.length === 1 || /^sep=/i.test(row.cells[0]!);
    if (isAlone && !row.cells.some(isNumberLike) && this.above.length < ABOVE) {
      this.above.push(row);
      return;
    }
    if (isAlone) this.takeAbove();
    else for (const each of this.above.splice(0)) this.leaveOut("text", each);
    if (this.columns) this.sample(row);
    else this.takeHeader(row);
  }

  private takeHeader(row: Row): void {
    if (row.cells.length - 1 > LIMITS.features) this.checkCount(row.cells.length - 1);
    checkHeader(this.name, row, this.label);
    this.headerLine = row.line;
    this.takeColumns(row.cells.map((name) => ({ name })));
  }

  /** Take the first line as the header, as there are no rows of several cells. */
  private takeAbove(): void {
    const [first, ...rest] = this.above.splice(0);
    if (!first || this.columns) return;
    this.takeHeader(first);
    for (const row of rest) this.sample(row);
  }

  private sample(row: Row): void {
    const columns = this.columns!;
    const { cells, line } = row;
    if (this.hasNumbers && cells.every((cell, place) => cell === columns[place]?.name)) {
      this.leaveOut("header", row);
      return;
    }
    if (cells.length !== columns.length && !cells.some(isNumberLike)) {
      this.leaveOut("text", row);
      return;
    }
    this.checkWaiting();
    if (cells.length === columns.length) {
      checkRow(this.name, row, columns.length);
      this.isBroken = false;
      this.hasNumbers ||= cells.some(isNumberLike);
      this.push(row);
    } else if (this.isBroken) {
      this.isBroken = false;
      this.leftOut.add("cut", texts.notes.line(line));
    } else this.waiting = row;
  }

  private leaveOut(kind: Odd, { line }: Row): void {
    this.leftOut.add(kind, texts.notes.line(line));
    if (this.waiting && kind !== "cut") {
      this.leftOut.add("cut", texts.notes.line(this.waiting.line));
    }
    this.waiting = undefined;
    this.isBroken = true;
  }

  /** Refuse a row of another length that samples follow. */
  private checkWaiting(): void {
    if (this.waiting) checkRow(this.name, this.waiting, this.columns!.length);
  }

  private push(row: Row): void {
    if (!this.early) this.take(row);
    else if (this.early.push(row) === WARMUP) this.begin();
  }

  /** Choose the features and the class among the columns. */
  private takeColumns(columns: readonly Column[]): void {
    this.columns = columns;
    const names = columns.map(({ name }) => name);
    checkTwice(this.name, names);
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
    const isDate = (place: number): boolean => this.forms[place]?.isDate ?? false;
    return all.filter(
      (place) =>
        place !== this.labelPlace && !this.isClock(place) && !isOut(place) && !isDate(place),
    );
  }

  private isClock(place: number): boolean {
    const columns = this.columns!;
    if (this.drop.length) return false; // the user has chosen
    const isFirst = place === 0 && this.labelPlace !== 0 && columns.length > 2;
    return isFirst && columns[0]!.name === CLOCK;
  }

  private checkCount(features: number): void {
    if (features >= 1 && features <= LIMITS.features) return;
    const message = texts.errors.columnCount(features, LIMITS.features);
    const mayBeLog = !features && this.columns?.some(({ name }) => /\S[\s|:]+\S/.test(name));
    throw mayBeLog ? readByCommand(this.name, message) : new DataError(message);
  }

  /** Begin with the first rows, which show what the columns hold. */
  private begin(): void {
    const { early, columns } = this;
    if (!early) return;
    if (!columns || !early.length) throw new DataError(texts.errors.empty(this.name));
    this.early = undefined;
    if (!this.arff) this.leaveOutUnits(early);
    if (!this.arff) this.findForms(columns, early);
    const lines = early.map(({ line }) => line);
    const where = (column: Column) => (line: number) =>
      texts.errors.where(this.name, line, column.name);
    this.features = this.places.map((place) => {
      const column = columns[place]!;
      const cells = early.map((row) => this.cell(row, place));
      return { place, reader: new ColumnReader(column, cells, where(column), lines) };
    });
    const label = columns[this.labelPlace]!;
    this.labels = new LabelReader(label.declared, where(label));
    early.forEach((row) => this.take(row));
    this.checkFirstRow(columns);
  }

  /** Leave out the row below the header if it has the units. */
  private leaveOutUnits(early: Row[]): void {
    const [first, ...body] = early.map(({ cells }) => cells);
    if (!body.length || !tellsUnits(first!, body)) return;
    this.leftOut.add("units", texts.notes.line(early.shift()!.line));
  }

  /** Throw DataError if the header is like the rows below it. */
  private checkFirstRow(columns: readonly Column[]): void {
    if (this.arff || this.isMade || this.leftOut.any) return;
    const name = (place: number): string => columns[place]!.name;
    const numbers = this.features.filter(({ reader }) => reader.isOfNumbers);
    const comesAgain =
      this.labels.has(name(this.labelPlace)) ||
      this.features.some(({ place, reader }) => reader.has(name(place)));
    const first = numbers[0];
    if (!comesAgain || !first || numbers.some(({ place }) => numberOf(name(place)) === null)) return;
    const where = texts.errors.line(this.name, this.headerLine);
    throw readByCommand(this.name, texts.errors.sample(where, name(first.place)));
  }

  private take(row: Row): void {
    const { line, written } = row;
    this.labels.read(this.cell(row, this.labelPlace), line, written[this.labelPlace]!);
    for (const { place, reader } of this.features) reader.read(this.cell(row, place), line);
  }

  private cell({ cells }: Row, place: number): string {
    const cell = cells[place]!;
    const form = this.forms[place];
    return form && !isMissing(cell) ? (form.read(cell) ?? cell) : cell;
  }

  /** Find how the cells of each column are read; the class's are read as they are. */
  private findForms(columns: readonly Column[], early: readonly Row[]): void {
    const forms = cellForms(columns.map((_, place) => early.map(({ cells }) => cells[place]!)));
    const isDate = (place: number): boolean => forms[place]?.isDate ?? false;
    if (this.label === undefined) {
      const able = [...columns.keys()].filter((place) => !isDate(place));
      this.labelPlace = able.at(-1) ?? this.labelPlace;
    }
    if (isDate(this.labelPlace)) {
      throw new DataError(texts.errors.dateClass(this.name, columns[this.labelPlace]!.name));
    }
    if (!forms[this.labelPlace]?.isDecimal) forms[this.labelPlace] = null;
    columns.forEach(({ name }, place) => {
      const form = forms[place];
      if (this.drop.includes(name) && place !== this.labelPlace) forms[place] = null;
      else if (form?.isDate && !this.isClock(place)) this.notes.push(texts.notes.clock(name));
      else if (form?.note) this.notes.push(texts.notes.form(this.name, name, form.note));
    });
    this.forms = forms;
    this.isMade ||= forms.some(Boolean);
    this.checkCount(this.places.length);
  }

  /** Return notes on a header that could also be a sample. */
  private headerNotes(): string[] {
    if (this.arff || this.isMade || this.leftOut.any) return [];
    const names = this.columns!.map(({ name }) => name);
    const isDoubtful =
      names.some((name) => numberOf(name) !== null) ||
      this.labels.has(names[this.labelPlace]!) ||
      this.features.some(({ place, reader }) => reader.has(names[place]!));
    return isDoubtful ? [texts.notes.header(this.name, this.headerLine)] : [];
  }

  /** Return the data read, as a stream. */
  stream(progress: Reading["progress"]): Stream {
    const { labels, names: classNames, notes, measured } = this.labels.all;
    const other = this.features.find(({ reader }) => reader.isLikeClass);
    if (measured && other && this.label === undefined) {
      throw new DataError(`${measured} ${texts.errors.otherClass(this.columns![other.place]!.name)}`);
    }
    const values = this.features.map(({ reader }) => reader.all);
    const featureNames = this.features.map(({ place }) => this.columns![place]!.name);
    const telltales = values.map((column, feature) =>
      telltaleNote(this.name, featureNames[feature]!, column, labels),
    );
    const units = values.map((column, feature) => {
      const unit = unitOf(column);
      leaveOutTooLarge(column, unit);
      progress?.(READING + ((1 - READING) * (feature + 1)) / values.length);
      return unit;
    });
    const twoValued = values.flatMap((column, feature) => (isTwoValued(column) ? [feature] : []));
    const rows = rawRows(values, units);
    const leftOut = this.leftOut.notes(this.name);
    const all = [...this.notes, ...leftOut, ...notes, ...this.headerNotes(), ...telltales.filter(Boolean)];
    return { name: this.name, featureNames, classNames, units, rows, labels, twoValued, notes: all };
  }
}

function isTwoValued(column: Float64Array): boolean {
  return new Set(column.slice(0, WARMUP).filter((value) => !Number.isNaN(value))).size === 2;
}
