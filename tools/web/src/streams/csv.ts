// The rows of a CSV file: RFC 4180, cells stripped of blanks, blank lines left out. A text arrives
// in pieces, and a row is yielded as soon as it is complete.

import { LIMITS } from "../shared";
import { DataError } from "./data_error";
import { texts } from "../texts";

/** A row with the number of the line where it starts. */
export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
  readonly written: readonly string[]; // the cells with the blanks around them
}

/** The marks of cells, and the number of the first line. */
export interface Marks {
  readonly delimiter: string;
  readonly quote: string;
  readonly line: number;
}

/** Return the separator of cells in the first line that is not blank: a comma, semicolon or tab. */
export function delimiterOf(text: string): string {
  const head = /[^\r\n]*\S[^\r\n]*/.exec(text)?.[0].replace(/"[^"]*"/g, "") ?? "";
  const count = (mark: string): number => head.split(mark).length;
  return [",", ";", "\t"].reduce((a, b) => (count(b) > count(a) ? b : a));
}

/** Return all rows of a text. */
export function readRows(text: string, marks: Marks): Row[] {
  return [...new RowReader(marks).rows(text, true)];
}

export class RowReader {
  private text = "";
  private at = 0;
  private line: number;
  private readonly next: Record<string, number> = {}; // the next place of each mark

  constructor(private readonly marks: Marks) {
    this.line = marks.line;
  }

  /** Yield the rows that end in this piece of the text; the last piece ends the last row. */
  *rows(piece: string, isLast = false): Generator<Row> {
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
    for (const mark of Object.keys(this.next)) delete this.next[mark];
    while (this.at < this.text.length) {
      const [at, line] = [this.at, this.line];
      const written = this.row(isLast);
      if (!written) {
        [this.at, this.line] = [at, line];
        if (this.text.length - at > LIMITS.line) throw new DataError(texts.errors.longLine(line));
        return;
      }
      const cells = written.map((cell) => cell.trim());
      if (cells.length > 1 || cells[0]) yield { line, cells, written };
    }
  }

  /** Return the cells of the next row; undefined if its end is still to come. */
  private row(isLast: boolean): string[] | undefined {
    const end = Math.min(this.find("\n"), this.find("\r"));
    if (this.find(this.marks.quote) < end) return this.rowWithQuotes(isLast);
    const cells = this.text.slice(this.at, end).split(this.marks.delimiter);
    this.at = end;
    return this.endLine(isLast) ? cells : undefined;
  }

  private rowWithQuotes(isLast: boolean): string[] | undefined {
    const line = this.line;
    const cells: string[] = [];
    for (;;) {
      const cell = this.cell(line, isLast);
      if (cell === undefined) return undefined;
      cells.push(cell);
      if (this.text[this.at] !== this.marks.delimiter) break;
      this.at++;
    }
    return this.endLine(isLast) ? cells : undefined;
  }

  /** Go past the end of the line; return false if the end is still to come. */
  private endLine(isLast: boolean): boolean {
    const [mark, after] = [this.text[this.at], this.text[this.at + 1]];
    if (!isLast && (mark === undefined || (mark === "\r" && after === undefined))) return false;
    this.at += mark === "\r" && after === "\n" ? 2 : 1;
    this.line++;
    return true;
  }

  private cell(line: number, isLast: boolean): string | undefined {
    while (this.text[this.at] === " ") this.at++;
    if (this.text[this.at] === this.marks.quote) return this.quoted(line, isLast);
    const start = this.at;
    while (!this.atEnd()) this.at++;
    return this.text.slice(start, this.at);
  }

  private quoted(line: number, isLast: boolean): string | undefined {
    const { quote } = this.marks;
    let cell = "";
    this.at++;
    for (;;) {
      const end = this.text.indexOf(quote, this.at);
      if (!isLast && (end < 0 || end + 1 === this.text.length)) return undefined;
      if (end < 0) throw new DataError(texts.errors.quote(line, quote));
      const part = this.text.slice(this.at, end);
      this.line += part.split(/\r\n|\r|\n/).length - 1;
      cell += part;
      this.at = end + 1;
      if (this.text[this.at] !== quote) break;
      cell += quote;
      this.at++;
    }
    if (!this.atEnd()) throw new DataError(texts.errors.quote(line, quote));
    return cell;
  }

  private atEnd(): boolean {
    const mark = this.text[this.at];
    return mark === undefined || mark === this.marks.delimiter || mark === "\n" || mark === "\r";
  }

  /** Return the next place of a mark; the text's length if there is none. */
  private find(mark: string): number {
    let at = this.next[mark] ?? -1;
    if (at < this.at) {
      at = this.text.indexOf(mark, this.at);
      this.next[mark] = at = at < 0 ? this.text.length : at;
    }
    return at;
  }
}
