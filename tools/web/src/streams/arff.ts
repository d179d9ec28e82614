// An ARFF file: its header declares what each column is and which values it may take, as the
// simulator's streams/arff_files.py reads it.

import { texts } from "../texts";
import { readRows, type Row } from "./csv";
import { DataError } from "./data_error";

/** A column: `declared` are the values that it may take; neither: its cells say what it holds. */
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

/** The columns that the header declares. */
export function arffColumns(name: string, text: string): Column[] {
  return headerOf(name, linesOf(text)).flatMap((line) => columnsIn(name, line));
}

/** The rows behind the header. */
export function arffRows(name: string, text: string): Row[] {
  const lines = linesOf(text);
  const before = headerOf(name, lines).length + 1;
  const data = lines.slice(before).map((line, i) => {
    const start = line.trimStart();
    if (start.startsWith("{")) throw new DataError(texts.errors.sparse(name, before + i + 1));
    return start.startsWith("%") ? "" : line; // the numbers of the lines stay true
  });
  const first = data.find((line) => line.trim()) ?? "";
  const quote = first.includes('"') ? '"' : "'";
  return readRows(data.join("\n"), { delimiter: delimiterOf(first), quote, line: before + 1 });
}

function linesOf(text: string): string[] {
  return text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
}

function headerOf(name: string, lines: readonly string[]): string[] {
  const end = lines.findIndex((line) => DATA.test(line));
  if (end < 0) throw new DataError(texts.errors.noData(name));
  return lines.slice(0, end);
}

function columnsIn(name: string, line: string): Column[] {
  if (!/^\s*@/.test(line) || /^\s*@relation/i.test(line)) return [];
  const [, single, double, plain, kind] = ATTRIBUTE.exec(line.trimEnd()) ?? [];
  const column = (single ?? double ?? plain)?.trim();
  if (!column || !kind) throw new DataError(texts.errors.arffHeader(name, line));
  if (kind.startsWith("{")) return [{ name: column, declared: valuesIn(name, kind) }];
  if (NUMERIC.test(kind)) return [{ name: column, numeric: true }];
  const unfit = UNFIT.exec(kind)?.[1];
  if (unfit) throw new DataError(texts.errors.unfit(name, column, unfit));
  throw new DataError(texts.errors.arffHeader(name, line));
}

/** The values between the braces. */
function valuesIn(name: string, kind: string): string[] {
  const inside = /^\{(.+)\}/.exec(kind)?.[1];
  if (inside === undefined) throw new DataError(texts.errors.arffHeader(name, kind));
  const quote = /(?:^|[,\t])\s*"/.test(inside) ? '"' : "'";
  const [row] = readRows(inside.trim(), { delimiter: delimiterOf(inside), quote, line: 1 });
  return (row?.cells ?? []).map((cell) => cell.replace(/^[ '"]+|[ '"]+$/g, ""));
}

function delimiterOf(line: string): string {
  return line.includes("\t") && !line.includes(",") ? "\t" : ",";
}
