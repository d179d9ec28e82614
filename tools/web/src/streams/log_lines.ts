// Lines of a boot loader, a prompt and a reset between the samples of a log, as in the simulator's
// streams/log_lines.py.

import { BOOT, PROMPT } from "../shared";
import { texts } from "../texts";
import { numberOf, isMissing } from "./columns";

const COLOUR = /\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b/g;
const UNENDED = /\x1b(?:\[[0-9;?]*|[()])?$/;
const ofBoot = new RegExp(`^(?:${BOOT})`);
const ofPrompt = new RegExp(`^(?:${PROMPT})`);
const NEARLY = 0.9; // share of the cells of a column of numbers
const LONGEST_UNIT = 16;
const KEY = "(?:\\\\.|[^\\s,=\\\\])+";
const VALUE =
  '(?:"(?:\\\\.|[^"\\\\])*"|[-+]?\\d[\\d.]*(?:[eE][-+]?\\d+)?[iu]?|[tTfF]|[tT]rue|TRUE|[fF]alse|FALSE)';
const POINT = new RegExp(
  `^${KEY}(?:,${KEY}=${KEY})* ${KEY}=${VALUE}(?:,${KEY}=${VALUE})* \\d{10,19}$`,
);

/** The kinds of lines that are no samples. */
export type Odd = "boot" | "prompt" | "text" | "header" | "cut" | "units";

/** Return the kind of a board's own message; undefined for a line that may be a sample. */
export function boardOutput(line: string): Odd | undefined {
  const text = line.trimStart();
  if (ofBoot.test(text)) return "boot";
  return ofPrompt.test(line) || ofPrompt.test(text) ? "prompt" : undefined;
}

/** Yield the pieces of a text without a terminal's colours. */
export async function* withoutColours(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let held = "";
  for await (const piece of pieces) {
    const text = held + piece;
    held = UNENDED.exec(text)?.[0] ?? "";
    const whole = held ? text.slice(0, -held.length) : text;
    yield whole.includes("\x1b") ? whole.replace(COLOUR, "") : whole;
  }
}

/** Return whether a cell is a number, perhaps with an affix. */
export function isNumberLike(cell: string): boolean {
  if (isMissing(cell)) return false;
  return numberOf(cell) !== null || /^[^\p{L}\d]{0,3}[+-]?\d[\d.,]*[^\p{L}\d]{0,3}$/u.test(cell);
}

/** Return whether nearly all cells of a column that are not missing look like numbers. */
export function isNumeric(column: readonly string[]): boolean {
  const cells = column.filter((cell) => !isMissing(cell));
  return cells.length > 0 && cells.filter(isNumberLike).length >= NEARLY * cells.length;
}

/** Return whether a row below the header has the columns' units: short texts where the other rows have
 * numbers, and elsewhere none of their texts. */
export function tellsUnits(row: readonly string[], body: readonly (readonly string[])[]): boolean {
  let units = 0;
  for (const [place, cell] of row.entries()) {
    const cells = body.map((each) => each[place]!);
    if (!cell) continue;
    if (!isNumeric(cells)) {
      if (!isMissing(cell) && cells.includes(cell)) return false;
      continue;
    }
    if (cell.length > LONGEST_UNIT || isNumberLike(cell)) return false;
    if (!isMissing(cell)) units++;
  }
  return units > 0;
}

/** Return the kind of lines that have a record each, as in the simulator's streams/record_lines.py;
 * undefined if this first line has none. */
export function recordLines(line: string): "mqtt" | "influx" | undefined {
  if (/^(?:\d\S*\s+)?(?!->)[^\s{"]\S*\s+\{.*\}\s*$/.test(line)) return "mqtt";
  return POINT.test(line.trim()) ? "influx" : undefined;
}

/** The lines that are left out: how many of each kind, and where the first one is. */
export class LinesLeftOut {
  private readonly counts = new Map<Odd, { count: number; readonly first: string }>();

  add(kind: Odd, where: string): void {
    const known = this.counts.get(kind);
    if (known) known.count++;
    else this.counts.set(kind, { count: 1, first: where });
  }

  get any(): boolean {
    return this.counts.size > 0;
  }

  /** Return a note on the lines. */
  notes(name: string): string[] {
    if (!this.any) return [];
    const parts = [...this.counts].map(([kind, { count, first }]) =>
      texts.notes.leftOutKind(count, kind, first),
    );
    const total = [...this.counts.values()].reduce((sum, { count }) => sum + count, 0);
    return [texts.notes.leftOut(name, total, parts)];
  }
}
