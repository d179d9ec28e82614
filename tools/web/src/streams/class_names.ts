// The classes of a stream and the labels' numbers, as the simulator's streams/class_names.py.

import { LIMITS } from "../shared";
import { texts } from "../texts";
import { isMissing, Numbers, type Where } from "./columns";
import { DataError } from "./data_error";

const MOST_TEXTS = 1 << 16; // above which a column is no column of classes
const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const MANY_WHOLE = 32; // classes that are whole numbers; more may be a measurement
const MANY_PARTS = 8; // classes that are numbers, some not whole; more may be a measurement

/** Return class names in numeric order if all are integers, else sorted by code points. */
export function classOrder(names: Iterable<string>): string[] {
  const ordered = [...names].sort(byCodePoints);
  if (ordered.every((name) => INTEGER.test(name))) {
    const value = (name: string): bigint => BigInt(name.replace(/^\+/, ""));
    ordered.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
  }
  return ordered;
}

/** The labels and classes of a column. */
interface Labels {
  readonly labels: Uint8Array;
  readonly names: readonly string[];
  readonly notes: readonly string[];
  readonly measured: string | undefined; // the note on numbers that may be a measurement
}

/** Reads labels: class indices and names, those that were declared, in their order, or that occur. */
export class LabelReader {
  private readonly places = new Map<string, { place: number; line: number; written: string }>();
  private readonly kept = new Numbers();
  private readonly spaced = new Map<string, number>(); // class: the line where its spaces differ

  constructor(
    private readonly declared: readonly string[] | undefined,
    private readonly where: Where,
  ) {}

  read(cell: string, line: number, asWritten: string): void {
    const written = asWritten.replace(/^ +/, "");
    let entry = this.places.get(cell);
    if (!entry) {
      const isKnown = this.declared?.includes(cell);
      if (isMissing(cell) && !isKnown) throw new DataError(texts.errors.noClass(this.where(line)));
      if (this.declared && !isKnown) {
        throw new DataError(texts.errors.undeclared(this.where(line), cell));
      }
      if (this.places.size > MOST_TEXTS) this.refuse([...this.places.keys()]);
      entry = { place: this.places.size, line, written };
      this.places.set(cell, entry);
    }
    if (entry.written !== written && !this.spaced.has(cell)) this.spaced.set(cell, line);
    this.kept.push(entry.place);
  }

  /** The labels so far, the names of the classes, and notes on these. */
  get all(): Labels {
    const names = this.declared ?? classOrder(this.places.keys());
    if (names.length < 2 || names.length > LIMITS.classes) this.refuse(names);
    const codes = new Map(names.map((name, code) => [name, code]));
    const ofPlace = [...this.places.keys()].map((name) => codes.get(name)!);
    const labels = Uint8Array.from(this.kept.all, (place) => ofPlace[place]!);
    return { labels, names, notes: [...this.notes()], measured: this.measured() };
  }

  /** Return whether a label is this text. */
  has(text: string): boolean {
    return this.places.has(text);
  }

  private refuse(names: readonly string[]): never {
    const [first] = this.places.values();
    throw new DataError(texts.errors.classCount(this.where(first?.line ?? 1), names));
  }

  private *notes(): Generator<string> {
    for (const [name, line] of this.spaced) yield texts.notes.spaced(this.where(line), name);
    if (this.declared) return;
    yield* this.alike();
    const measured = this.measured();
    if (measured) yield measured;
  }

  /** Return a note on classes that look like a measurement's values. */
  private measured(): string | undefined {
    const names = [...this.places.keys()];
    const whole = names.every((name) => INTEGER.test(name));
    const isMany = names.length > (whole ? MANY_WHOLE : MANY_PARTS);
    if (this.declared || !isMany || !names.every((name) => NUMBER.test(name))) return undefined;
    const [first] = this.places.values();
    return texts.notes.measured(this.where(first!.line), names.length);
  }

  /** Return notes on classes whose names probably mean the same. */
  private alike(): string[] {
    const groups = new Map<string, string[]>();
    for (const name of this.places.keys()) {
      const key = meant(name);
      groups.set(key, [...(groups.get(key) ?? []), name]);
    }
    return [...groups.values()]
      .filter((group) => group.length > 1)
      .map((group) => texts.notes.alike(this.where(this.places.get(group.at(-1)!)!.line), group, difference(group)));
  }
}

/** Return the same text for names that probably mean the same. */
function meant(name: string): string {
  if (NUMBER.test(name)) return String(Number(name) + 0); // -0 is 0
  return withoutCase(name).normalize("NFKC").toLowerCase();
}

function withoutCase(name: string): string {
  return name.replace(/\s+/g, "").toLowerCase();
}

function difference(alike: readonly string[]): "number" | "case" | "encoding" {
  if (NUMBER.test(alike[0]!)) return "number";
  return new Set(alike.map(withoutCase)).size === 1 ? "case" : "encoding";
}

function byCodePoints(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const gap = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!;
    if (gap) return gap;
  }
  return x.length - y.length;
}
