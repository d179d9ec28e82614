// An ARFF file: its header declares each column's type and possible values, as in the simulator's
// streams/arff_files.py.

import { texts } from "../texts";
import { readRows, RowReader, type Row } from "./csv";
import { DataError } from "./data_error";

/** A column: `declared` are its possible values; without `numeric` and `declared`, its cells decide. */
export interface Column {
  readonly name: string;
  readonly numeric?: boolean;
  readonly declared?: readonly string[];
}

const DATA = /^\s*@data/i;
const ATTRIBUTE = /^\s*@attribute\s*(?:'(.*?)'|"(.*?)"|(\S+))\s+(\{.*|\w+.*)$/i;
const NUMERIC = /^(numeric|int|real)/i;
const UNFIT = /^(string|date|relational)\b/i;

export function isArff(name: string): boolean {
  return /\.arff(\.gz)?$/i.test(name);
}

/** Reads the header, then the rows, of a text that comes in pieces. */
export class ArffReader {
  columns: Column[] | undefined; // once the header is read
  private text = "";
  private line = 0; // lines that are read
  private readonly header: string[] = [];
  private reader: RowReader | undefined;

  constructor(private readonly name: string) {}

  /** Yield the rows that end in this piece of the text. */
  *rows(piece: string, isLast = false): Generator<Row> {
    for (const line of this.lines(piece, isLast)) {
      this.line++;
      if (this.columns) yield* this.data(line);
      else if (DATA.test(line)) {
        this.columns = this.header.flatMap((each) => columnsIn(this.name, each));
      } else this.header.push(line);
    }
    if (!isLast) return;
    if (!this.columns) throw new DataError(texts.errors.noData(this.name));
    if (this.reader) yield* this.reader.rows("", true);
  }

  private *lines(piece: string, isLast: boolean): Generator<string> {
    const lines = (this.text + piece).split(/\r\n|\r(?!$)|\n/);
    this.text = isLast ? "" : lines.pop()!; // a \r at the end may be half of a line's end
    yield* lines;
  }

  private *data(line: string): Generator<Row> {
    const start = line.trimStart();
    if (start.startsWith("{")) throw new DataError(texts.errors.sparse(this.name, this.line));
    const isNone = !start || start.startsWith("%");
    if (!this.reader) {
      if (isNone) return;
      const quote = line.includes('"') ? '"' : "'";
      this.reader = new RowReader({ delimiter: delimiterIn(line), quote, line: this.line });
    }
    yield* this.reader.rows(isNone ? "\n" : `${line}\n`); // the line numbers stay right
  }
}

function columnsIn(name: string, line: string): Column[] {
  if (!/^\s*@/.test(line) || /^\s*@relation/i.test(line)) return [];
  const [, single, double, plain, type] = ATTRIBUTE.exec(line.trimEnd()) ?? [];
  const column = (single ?? double ?? plain)?.trim();
  if (!column || !type) throw new DataError(texts.errors.arffHeader(name, line));
  if (type.startsWith("{")) return [{ name: column, declared: valuesIn(name, type) }];
  if (NUMERIC.test(type)) return [{ name: column, numeric: true }];
  const unfit = UNFIT.exec(type)?.[1];
  if (unfit) throw new DataError(texts.errors.unfit(name, column, unfit));
  throw new DataError(texts.errors.arffHeader(name, line));
}

/** Return the values between the braces. */
function valuesIn(name: string, type: string): string[] {
  const inside = /^\{(.+)\}/.exec(type)?.[1];
  if (inside === undefined) throw new DataError(texts.errors.arffHeader(name, type));
  const quote = /(?:^|[,\t])\s*"/.test(inside) ? '"' : "'";
  const [row] = readRows(inside.trim(), { delimiter: delimiterIn(inside), quote, line: 1 });
  return (row?.cells ?? []).map((cell) => cell.replace(/^[ '"]+|[ '"]+$/g, ""));
}

function delimiterIn(line: string): string {
  return line.includes("\t") && !line.includes(",") ? "\t" : ",";
}
