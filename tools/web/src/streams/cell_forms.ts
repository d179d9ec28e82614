// Cells that are numbers with something attached, as the simulator's streams/cell_forms.py reads
// them: a unit, brackets, a decimal comma, thousands set apart, a date. A form is found in a column's
// first cells and read in all of them; a cell of another form stays as it is.

import { texts } from "../texts";
import { isMissing, numberOf } from "./columns";

/** How the cells of a column are read; `read` returns null for a cell of another form. */
export interface CellForm {
  readonly read: (cell: string) => string | null;
  readonly note: string; // what was removed or read
  readonly isDate: boolean;
  readonly isDecimal: boolean; // a number with a comma and nothing else
}

const BLANKS = "'\\u2019 \\u00a0\\u2009\\u202f";
const CORE = `[+-]?(?:\\d[\\d.,${BLANKS}]*\\d|\\d|\\.\\d+)(?:[.,](?!\\d))?(?:[eE][+-]?\\d+)?`;
const ATTACHED = new RegExp(
  `^(?<before>[\\[({<"'|~$€£=]+\\s*|)(?<core>${CORE})` +
    "(?<after>\\s*\\p{L}[^\\s,;:\\])}]{0,9}|\\s*[%°‰µ][^\\s,;:\\])}]{0,9}|)" +
    "(?<end>[\\s\\])}>;,\"'|:]*)$",
  "u",
);
const COMMA = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][+-]?\d+)?$/;
const THOUSANDS = /^[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?$/;
const APART = new RegExp(`^[+-]?(?:\\d{1,3}(?:[${BLANKS}]\\d{3})+|\\d+)(?:\\.\\d*)?$`);
const MANY = 8; // different cells, of a column with a unit of letters alone
const SHORT = 3; // letters of such a unit

type Parts = { readonly affixes: readonly [string, string, string]; readonly cores: readonly string[] };

/** Return the affixes of these numbers, if all have the same, and the bare numbers. */
function partsOf(cells: readonly string[]): Parts | null {
  const matches = cells.map((cell) => ATTACHED.exec(cell)?.groups);
  const first = matches[0];
  if (!first) return null;
  const affixes = [first["before"]!.trim(), first["after"]!.trim(), first["end"]!.trim()] as const;
  const cores: string[] = [];
  let isApart = false;
  for (const each of matches) {
    if (!each) return null;
    const cellAffixes = [each["before"]!.trim(), each["after"]!.trim(), each["end"]!.trim()];
    if (cellAffixes.some((part, place) => part !== affixes[place])) return null;
    cores.push(each["core"]!);
    isApart ||= /[.,]/.test(each["core"]!) || each["after"]!.startsWith(" ");
  }
  const unit = affixes[1];
  const isUnit = isApart || (new Set(cells).size > MANY && unit.length <= SHORT);
  return /^\p{L}/u.test(unit) && !isUnit ? null : { affixes, cores };
}

/** Return the possible meanings of a comma in such numbers: "," a decimal comma, "." between thousands. */
function commas(cores: readonly string[]): string[] {
  const readings: string[] = [];
  if (cores.every((core) => COMMA.test(core))) readings.push(",");
  if (cores.every((core) => THOUSANDS.test(core))) readings.push(".");
  return readings;
}

/** Return how the cells of each column are read; null: as they are, also if two readings fit. */
export function cellForms(columns: readonly (readonly string[])[]): (CellForm | null)[] {
  const known = columns.map((cells) => cells.filter((cell) => !isMissing(cell)));
  const parts = known.map((cells) =>
    cells.length && !cells.every((cell) => numberOf(cell) !== null) ? partsOf(cells) : null,
  );
  const withComma = parts.filter((part) => part?.cores.some((core) => core.includes(",")));
  const cores = withComma.map((part) => part!.cores.filter((core) => core.includes(",")));
  const sure = new Set(cores.map(commas).filter((fits) => fits.length === 1).flat());
  const decimal = sure.size === 1 ? [...sure][0] : undefined;
  return known.map((cells, place) => formOf(cells, parts[place]!, decimal));
}

function formOf(
  cells: readonly string[],
  parts: Parts | null,
  decimal: string | undefined,
): CellForm | null {
  if (areDates(cells)) return { read: () => "", note: "", isDate: true, isDecimal: false };
  if (!parts) return null;
  const { affixes, cores } = parts;
  const number = numberReader(cores, decimal);
  if (!number) return null;
  const isBare = affixes.every((part) => !part);
  const read = (cell: string): string | null => {
    const groups = ATTACHED.exec(cell)?.groups;
    const cellAffixes = groups && [groups["before"]!, groups["after"]!, groups["end"]!].map((part) => part.trim());
    if (!cellAffixes || cellAffixes.some((part, place) => part !== affixes[place])) {
      return isBare && numberOf(cell) !== null ? cell : null;
    }
    return number.read(groups["core"]!);
  };
  const [before, unit, end] = affixes;
  const off = [before, end].filter(Boolean);
  const note = [
    number.note,
    unit && texts.notes.unitOff(unit),
    off.length ? texts.notes.signsOff(off) : "",
  ];
  return { read, note: note.filter(Boolean).join(", "), isDate: false, isDecimal: isBare };
}

type NumberReader = { readonly read: (core: string) => string | null; readonly note: string };

function numberReader(cores: readonly string[], decimal: string | undefined): NumberReader | null {
  const plain = (core: string): string | null => (numberOf(core) === null ? null : core);
  if (cores.every((core) => plain(core) !== null)) return { read: plain, note: "" };
  if (cores.some((core) => core.includes(","))) {
    const all = commas(cores);
    const fits = all.length === 2 && decimal ? [decimal] : all;
    if (fits.length !== 1) return null;
    return fits[0] === ","
      ? {
          read: (core) => (COMMA.test(core) ? core.replaceAll(".", "").replace(",", ".") : null),
          note: texts.notes.decimalCommas,
        }
      : {
          read: (core) => (THOUSANDS.test(core) ? core.replaceAll(",", "") : null),
          note: texts.notes.thousandsOut,
        };
  }
  if (!cores.every((core) => APART.test(core))) return null;
  const blanks = new RegExp(`[${BLANKS}]`, "g");
  const read = (core: string): string | null => (APART.test(core) ? core.replace(blanks, "") : null);
  return { read, note: texts.notes.thousandsApart };
}

// Dates and times of day, as streams/clock_cells.py reads them

const TIME = String.raw`(?<h>\d{1,2}):(?<m>\d\d)(?::(?<s>\d\d)(?:[.,:]\d{1,9})?)?(?: ?[AaPp]\.?[Mm]\.?)?`;
const DAY = String.raw`(?<a>\d{1,2})[-/.](?<b>\d{1,2})`;
const DATES = [
  new RegExp(String.raw`^(?<Y>\d{4})[-/.]${DAY}(?:[T ]+${TIME}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?$`),
  new RegExp(String.raw`^${DAY}[-/.](?<Y>\d{4}|\d\d)(?:,?[T ]+${TIME})?$`),
  new RegExp(`^${TIME}$`),
];

function areDates(cells: readonly string[]): boolean {
  const mayBe = (cell: string): boolean => /[:\-/]/.test(cell) || cell.split(".").length > 2;
  if (!cells.length || !cells.every(mayBe)) return false;
  for (const [place, form] of DATES.entries()) {
    const matches = cells.map((cell) => form.exec(cell)?.groups);
    if (!matches.every(Boolean)) continue;
    const orders = place === 1 ? [true, false] : [false];
    return orders.some((dayFirst) => matches.every((parts) => isDate(parts!, dayFirst)));
  }
  return false;
}

function isDate(parts: Record<string, string | undefined>, dayFirst: boolean): boolean {
  const of = (name: string): number => Number(parts[name] ?? 0);
  if (parts["Y"] === undefined) return of("h") < 24 && of("m") < 60 && of("s") < 61;
  const [month, day] = dayFirst ? [of("b"), of("a")] : [of("a"), of("b")];
  const year = of("Y") + (parts["Y"].length === 2 ? 2000 : 0);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year > 0;
}
