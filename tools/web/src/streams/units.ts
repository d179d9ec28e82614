// Converts decimal numbers of a stream to the raw integers that a quantizer takes, with the same bits
// as the simulator's streams/units.py. The tests compare the two.

export const MISSING = -(2 ** 29);
const RAW_MAX = 2 ** 29 - 1;
const HEADROOM = 4;
const USUAL = 0.999; // the part of a column that has to fit; larger values are clamped
const ROUNDING = 1e-9; // error of a float that should be whole
const FAR = 1000; // an offset pays if the numbers are this many times as large as their spread
const MOST = 0.99; // the part of a column that shows which numbers are plausible
const ABSURD = 1e6; // a number this many times as large as those does not affect the unit

/** raw = (value - offset) * 10**digits */
export interface Unit {
  readonly offset: number;
  readonly digits: number;
}

/** Return the unit of a column, which has NaN for missing values. */
export function unitOf(column: Float64Array): Unit {
  const known = plausible(column.filter((value) => !Number.isNaN(value)));
  if (!known.length) return { offset: 0, digits: 0 };
  const middle = roundHalfEven(median(known));
  const spreads = known.map((value) => value - middle);
  const size = sizeOf(known);
  const spread = sizeOf(spreads);
  const offset = spread * FAR < size ? middle : 0;
  const most = mostDigits(offset ? spread : size);
  return { offset, digits: fewestDigits(known.map((value) => value - offset), most) };
}

/** Return the raw integer of a value; NaN becomes MISSING, a value too large the largest. */
export function rawOf(value: number, unit: Unit): number {
  if (Number.isNaN(value)) return MISSING;
  const scaled = roundHalfEven(scale(value - unit.offset, unit.digits));
  return Math.min(Math.max(scaled, -RAW_MAX), RAW_MAX);
}

/** Replace values that do not fit the column's unit by missing ones. */
export function leaveOutTooLarge(column: Float64Array, unit: Unit): void {
  column.forEach((value, row) => {
    const scaled = roundHalfEven(scale(value - unit.offset, unit.digits));
    if (Math.abs(scaled) > RAW_MAX) column[row] = NaN;
  });
}

/** Return the raw integers of columns, row after row. */
export function rawRows(columns: readonly Float64Array[], units: readonly Unit[]): Int32Array {
  const rows = new Int32Array(columns.length * (columns[0]?.length ?? 0));
  columns.forEach((column, place) => {
    const unit = units[place]!;
    column.forEach((value, row) => (rows[row * columns.length + place] = rawOf(value, unit)));
  });
  return rows;
}

// Powers of ten are exact up to 10**22; dividing where digits are negative keeps 30 / 10 at 3.
function scale(value: number, digits: number): number {
  return (value * 10 ** Math.max(digits, 0)) / 10 ** Math.max(-digits, 0);
}

/** Return the numbers without a mistyped 1e308 or the like, which would turn all the others into 0. */
function plausible(numbers: Float64Array): Float64Array {
  if (!numbers.length) return numbers;
  const sizes = numbers.map(Math.abs).sort();
  const most = sizes[Math.floor((sizes.length - 1) * MOST)]!;
  return most ? numbers.filter((value) => Math.abs(value) <= most * ABSURD) : numbers;
}

function sizeOf(numbers: Float64Array): number {
  const sizes = numbers.map(Math.abs).sort();
  return sizes[Math.ceil((sizes.length - 1) * USUAL)]!;
}

function median(numbers: Float64Array): number {
  const sorted = numbers.slice().sort();
  const middle = sorted.length >> 1;
  return sorted.length & 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Return the most decimal places with which numbers of that size fit. */
function mostDigits(size: number): number {
  if (size === 0) return 0;
  return Math.floor(Math.log10(RAW_MAX / HEADROOM) - Math.log10(size));
}

/** Return the fewest digits that make all numbers whole, but not more than `most`. */
function fewestDigits(numbers: Float64Array, most: number): number {
  for (let digits = Math.min(most, 0); digits < most; digits++) {
    if (numbers.every((value) => isWhole(scale(value, digits)))) return digits;
  }
  return most;
}

function isWhole(scaled: number): boolean {
  return Math.abs(scaled - roundHalfEven(scaled)) <= ROUNDING * Math.abs(scaled);
}

function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
