// Recordings of a lesson: one for each press of a label.

/** Readings and the samples that were made of them, with one label. */
export interface Recording {
  label: number;
  readonly readings: Uint8Array[]; // values of 16 bits, the high byte first
  readonly rows: Int32Array[]; // samples
}

/** Return a reading's values. */
export function valuesOf(reading: Uint8Array): number[] {
  const view = new DataView(reading.buffer, reading.byteOffset, reading.byteLength);
  return Array.from({ length: reading.length / 2 }, (_, axis) => view.getInt16(2 * axis));
}

/** Join parts one after another. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Return the bytes of a text in base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (mark) => mark.charCodeAt(0));
}

/** Split an array into parts of `size` items. */
export function pieces<All extends Uint8Array | Int32Array>(all: All, size: number): All[] {
  return Array.from({ length: all.length / size }, (_, i) => all.slice(i * size, (i + 1) * size) as All);
}

/** Return the readings as CSV, as `record` writes them. */
export function readingsCsv(
  recordings: readonly Recording[],
  axes: readonly string[],
  classNames: readonly string[],
): string {
  const rows = recordings.map(({ readings, label }) => ({ label, rows: readings.map((each) => valuesOf(each)) }));
  return csvOf(rows, axes, classNames);
}

/** Return the samples as CSV, as the simulator reads them. */
export function csvOf(
  recordings: readonly { readonly label: number; readonly rows: readonly Iterable<number>[] }[],
  featureNames: readonly string[],
  classNames: readonly string[],
): string {
  const head = [...featureNames, "class"].map(cell).join(",");
  const lines = recordings.flatMap(({ rows, label }) =>
    rows.map((row) => [...row, cell(classNames[label]!)].join(",")),
  );
  return [head, ...lines, ""].join("\n");
}

function cell(text: string): string {
  return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
