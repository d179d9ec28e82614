// The rows of a CSV file: RFC 4180, cells stripped of blanks, blank lines left out.

import { DataError } from "./data_error";
import { texts } from "../texts";

/** A row with the number of the line where it starts. */
export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** What marks the cells, and the number of the first line. */
interface Marks {
  readonly delimiter: string;
  readonly quote: string;
  readonly line: number;
}

/** All rows. The first line shows what separates the cells: commas, semicolons or tabs. */
export function parseCsv(text: string): Row[] {
  const plain = text.replace(/^\uFEFF/, "");
  const head = /[^\r\n]*\S[^\r\n]*/.exec(plain)?.[0].replace(/"[^"]*"/g, "") ?? "";
  const count = (mark: string): number => head.split(mark).length;
  const delimiter = [",", ";", "\t"].reduce((a, b) => (count(b) > count(a) ? b : a));
  return readRows(plain, { delimiter, quote: '"', line: 1 });
}

/** The rows of a text with such marks. */
export function readRows(text: string, marks: Marks): Row[] {
  const reader = new Reader(text, marks);
  const rows: Row[] = [];
  while (!reader.done) {
    const row = reader.row();
    if (row.cells.length > 1 || row.cells[0]) rows.push(row);
  }
  return rows;
}

class Reader {
  private at = 0;
  private line: number;

  constructor(
    private readonly text: string,
    private readonly marks: Marks,
  ) {
    this.line = marks.line;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  row(): Row {
    const line = this.line;
    const cells = [this.cell(line)];
    while (this.text[this.at] === this.marks.delimiter) {
      this.at++;
      cells.push(this.cell(line));
    }
    if (this.text[this.at] === "\r" && this.text[this.at + 1] === "\n") this.at++;
    if (!this.done) this.line++;
    this.at++;
    return { line, cells };
  }

  private cell(line: number): string {
    while (this.text[this.at] === " ") this.at++;
    const cell = this.text[this.at] === this.marks.quote ? this.quoted(line) : this.plain();
    return cell.trim();
  }

  private plain(): string {
    const start = this.at;
    while (!this.atEnd()) this.at++;
    return this.text.slice(start, this.at);
  }

  private quoted(line: number): string {
    const { quote } = this.marks;
    let cell = "";
    this.at++;
    for (;;) {
      const end = this.text.indexOf(quote, this.at);
      if (end < 0) throw new DataError(texts.errors.quote(line, quote));
      const part = this.text.slice(this.at, end);
      this.line += part.split("\n").length - 1;
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
}
