// A project: a model's file with the recordings in it. The page opens it again, and `simulate`,
// `build` and `show` read the same file.
//
// Besides the contents of a model's file, it has
//   recording.csv  the samples with their classes, which the simulator learns
//   gestures.json  the sensor, the board, the classes' thresholds and switches, and each recording's
//                  readings and samples in base64
// The shape of readings is known for a sensor of this page; for a board's sensor, it is in config.json.

import type { Kept } from "./learning/autosave";
import type { Gestures } from "./learning/gestures";
import type { Above } from "./learning/lesson";
import { csvOf, fromBase64, joined, pieces, type Recording } from "./learning/recording";
import { extractionOf, featureNames, type Extraction, type Shape } from "./learning/windows";
import { isKnown, type SensorSettings } from "./link/sensor_settings";
import { modelFile, type Model } from "./model";
import type { PageData, SensorKind } from "./page_data";
import { isSource, shapeOf, type Source } from "./sensors";
import { texts } from "./texts";
import type { Chosen } from "./views/switch_fields";
import { unzip } from "./zip";

const [CONFIG, CSV, GESTURES] = ["config.json", "recording.csv", "gestures.json"] as const;
export const PARTS = [CONFIG, GESTURES] as const; // files that the page needs to open a project
const LONGEST = 1 << 27; // bytes of a file

interface Packed {
  readonly label: number;
  readonly readings: string;
  readonly rows: string;
}

export function projectFile(
  model: Model,
  source: Source,
  { recordings, lesson: { above }, shape: { sensor } }: Pick<Gestures, "recordings" | "lesson" | "shape">,
  data: PageData,
  board: string,
  switched: Chosen | null,
): Blob {
  const whole = recordings.filter(({ rows }) => rows.length);
  const packed = whole.map(({ label, readings, rows }) => ({
    label,
    readings: base64(joined(readings)),
    rows: base64(joined(rows.map((row) => new Uint8Array(row.buffer, row.byteOffset, row.byteLength)))),
  }));
  const text = (words: string): Uint8Array => new TextEncoder().encode(words);
  return modelFile(model, data, {
    [CSV]: text(csvOf(whole, model.featureNames, model.classNames)),
    [GESTURES]: text(JSON.stringify({ source, sensor, board, above, switched, recordings: packed })),
  });
}

/** Read a project's file; kinds are the sensors that the page knows. Throws an Error for people for any other file. */
export async function readProject(file: File, kinds: readonly SensorKind[]): Promise<Kept> {
  const refused = new Error(texts.teach.noProject(file.name));
  if (file.size > LONGEST) throw refused;
  const parts = unzip(new Uint8Array(await file.arrayBuffer()));
  if (!parts?.[CONFIG] || !parts[GESTURES]) throw refused;
  try {
    const config = JSON.parse(new TextDecoder().decode(parts[CONFIG])) as Config;
    const gestures = JSON.parse(new TextDecoder().decode(parts[GESTURES])) as GesturesFile;
    const { class_names: classNames, parameters } = config;
    const { source, board = "", above = [], switched = null } = gestures;
    const shape = shapeOf(source) ?? { ...shapeIn(config.extraction), ...sensorIn(gestures, kinds) };
    if (!isSource(source) || !isNames(classNames) || !isAbove(above)) throw refused;
    const { bytes } = parameters;
    if (!Number.isInteger(bytes)) throw refused;
    const [reading, row] = [2 * shape.axes.length, featureNames(shape).length];
    const recordings = gestures.recordings.map((each) => unpacked(each, reading, row));
    const isKnown = ({ label }: Recording): boolean => label in classNames;
    if (!recordings.length || !recordings.every(isKnown)) throw refused;
    const lesson = { classNames, above, recordings: recordings.map((each) => [each, each.label] as const) };
    if (switched && !isChosen(switched)) throw refused;
    return { source, shape, board, bytes, lesson, switched };
  } catch {
    throw refused;
  }
}

interface Config {
  readonly class_names: readonly string[];
  readonly parameters: { readonly bytes: number };
  readonly extraction: Extraction;
}
interface GesturesFile {
  readonly source: Source;
  readonly sensor?: SensorSettings; // the sensor of a board
  readonly board?: string; // for which the project was made
  readonly above?: Above;
  readonly switched?: Chosen | null;
  readonly recordings: readonly Packed[];
}

function isNames(names: readonly unknown[]): boolean {
  return Array.isArray(names) && names.length > 1 && names.every((name) => typeof name === "string");
}

function isAbove(above: readonly unknown[]): boolean {
  return Array.isArray(above) && above.every((each) => Number.isInteger(each) && each >= 0 && each <= 100);
}

function isChosen({ kind, at, of }: Chosen): boolean {
  const texts = [kind, at, ...Object.values(of)] as readonly unknown[];
  return texts.every((each) => typeof each === "string");
}

/** Return the shape of a board's readings. Throws a RangeError if this page makes no such samples. */
function shapeIn({ channels, rate, options }: Extraction): Shape {
  const shape = { axes: channels, rate, zero: options["zero"] as readonly number[] };
  const isWhole = channels.length > 0 && rate >= 1 && shape.zero.length === channels.length;
  const isRight = channels.every((name) => typeof name === "string") && shape.zero.every(Number.isInteger);
  const made = extractionOf(shape).options;
  const isMade = JSON.stringify({ ...made, ...options }) === JSON.stringify(made);
  if (!isWhole || !isRight || !isMade) throw new RangeError();
  return shape;
}

/** Return the board's sensor, if this page can put a program for it on a board. */
function sensorIn({ sensor }: GesturesFile, kinds: readonly SensorKind[]): Pick<Shape, "sensor"> {
  return sensor && isKnown(sensor, kinds) ? { sensor } : {};
}

function unpacked({ label, readings, rows }: Packed, reading: number, row: number): Recording {
  const [plain, samples] = [fromBase64(readings), fromBase64(rows)];
  if (plain.length % reading || samples.length % (4 * row)) throw new RangeError();
  const made = pieces(new Int32Array(samples.buffer), row);
  return { label, readings: pieces(plain, reading), rows: made };
}

function base64(data: Uint8Array): string {
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return btoa(text);
}

