// A learned model, as the simulator's .mshrub file and as the program of a board.

import { checkPins } from "./board/pins";
import type { Saved } from "./learning/messages";
import { votesOf, type Above } from "./learning/lesson";
import { fromBase64, joined } from "./learning/recording";
import type { Extraction } from "./learning/windows";
import { driversFor, modulesFor, type SensorSettings } from "./link/sensor_settings";
import { BYTECODE, isKey, isTone, loadLibrary, type Library } from "./page_data";
import type { Board, Learner, PageData, Parameters, ProgramSettings, Switched } from "./page_data";
import type { Unit } from "./streams/units";
import { zip } from "./zip";

const [CONFIG, LEARNER, QUANTIZER] = ["config.json", "learner.state", "quantizer.state"] as const;
const PACKAGE = "microshrub";
const OF_SWITCHES = ["companions", "switches"].map((name) => `device.${name}`);
const [OF_TONES, OF_KEYS] = ["device.switches:Buzzer", "device.switches:UsbKeyboard"] as const;
const OF_BYTECODE = "bytecode_pointers"; // a module that only bytecode needs

/** A model, with its learned state. */
export interface Model {
  readonly learner: Learner;
  readonly parameters: Parameters;
  readonly featureNames: readonly string[];
  readonly classNames: readonly string[];
  readonly units: readonly Unit[];
  readonly stream: string; // the stream's name
  readonly samples: number;
  readonly accuracy: number; // millionths
  readonly crc32: number;
  readonly saved: Saved;
  readonly extraction?: Extraction; // how the features were made
}

/** A board's program, apart from the model. */
export interface Target {
  readonly board: Board;
  readonly sensor: SensorSettings;
  readonly switches: readonly (readonly Switched[])[]; // by class; none: nothing is switched
  readonly above: Above; // confidence below which a class switches nothing
}

type Files = Readonly<Record<string, Uint8Array>>;

/** Make the file that `microshrub simulate --save` writes, with more files in it. */
export function modelFile(model: Model, data: PageData, more: Files = {}): Blob {
  const config = {
    format: data.model_format,
    learner: model.learner.learner_class,
    parameters: model.parameters,
    feature_names: model.featureNames,
    class_names: model.classNames,
    offset: model.units.map(({ offset }) => offset),
    digits: model.units.map(({ digits }) => digits),
    stream: model.stream,
    samples: model.samples,
    accuracy: model.accuracy / 10_000,
    state_crc32: model.crc32,
    ...(model.extraction ? { extraction: model.extraction } : {}),
  };
  return zip({ [CONFIG]: json(config), ...states(model), ...more });
}

/** Throw an Error for people if the board cannot have such a program. */
export function checkTarget(model: Model, target: Target): void {
  checkPins(programSettings(model, target), target.board);
}

/** Return the bytes of RAM that a program with the model takes on a board. */
export function takenOn(board: Board, { learner, saved }: Model, hasSensor: boolean): number {
  const overhead = board.overhead[learner.key]![hasSensor ? "motion" : "program"];
  return saved.learner.length + saved.quantizer.length + overhead;
}

/** Return the files of `microshrub build` for a board, with the library for its processor. Rejects as checkTarget() throws. */
export async function programFiles(
  model: Model,
  target: Target,
  arch: string,
  data: PageData,
): Promise<Record<string, Uint8Array>> {
  checkTarget(model, target);
  const library = await libraryFor(model, target, arch, data);
  const config = {
    version: data.config_version,
    program: data.program,
    learner: model.learner.learner_class,
    parameters: model.parameters,
    class_names: model.classNames,
    feature_names: model.featureNames,
    units: model.units.map(({ offset, digits }) => [offset, digits]),
    quantizer: QUANTIZER,
    warmup: model.learner.grows ? null : 0,
    model: LEARNER,
    ...programSettings(model, target),
  };
  return {
    "main.py": new TextEncoder().encode(data.main),
    [CONFIG]: pythonJson(config),
    ...states(model),
    ...driversFor(target.sensor, data.sensors),
    ...Object.fromEntries(Object.entries(library).map(([path, bytes]) => [`lib/${path}`, bytes])),
  };
}

/** Return config.json except for the learner, in the order of `build`: a board identifies a program by the file's bytes. */
function programSettings({ extraction }: Model, { board, sensor, switches, above }: Target): ProgramSettings {
  const hasSensor = sensor.kind !== "serial";
  const { sensor: _, extraction: __, watchdog, text, ...rest } = hasSensor ? board.motion : board.serial;
  return {
    sensor,
    ...(hasSensor && extraction ? { extraction: extraction.options } : {}),
    ...rest,
    ...(switches.length ? { switches } : {}),
    ...(switches.length && above.some(Boolean) ? { switch_above: switches.map((_, c) => votesOf(above[c])) } : {}),
    watchdog,
    text,
  };
}

/** Return the compiled files of the device library that the program needs. */
async function libraryFor(
  model: Model,
  target: Target,
  arch: string,
  { more_of_device: some }: PageData,
): Promise<Library> {
  const more = moreModules(target);
  if (arch === BYTECODE) {
    const library = await loadLibrary(BYTECODE);
    const { kind } = target.sensor; // a library may have other files for programs without a sensor
    const files = [...modulesOf(model, target, more), OF_BYTECODE].map((name) => {
      const path = pathOf(fileOf(name, more, some));
      return [pathOf(name), library[`${kind}/${path}`] ?? library[path]!] as const;
    });
    return Object.fromEntries(files);
  }
  const [merged, native] = await Promise.all([loadLibrary(model.learner.key), loadLibrary(arch)]);
  const modules = Object.keys(some);
  const chosen = new Map(
    modules.filter((name) => more.includes(name)).map((name) => [pathOf(fileOf(name, more, some)), pathOf(name)]),
  );
  const ofSome = new Set(modules.map(pathOf));
  const changes = JSON.parse(new TextDecoder().decode(native[`${model.learner.key}.json`])) as Changes;
  const files = Object.entries(merged)
    .filter(([path]) => chosen.has(path) || !ofSome.has(path.replace(WITHOUT, "")))
    .map(([path, bytes]) => [chosen.get(path) ?? path, changed(bytes, changes[path]!)] as const);
  return { ...Object.fromEntries(files), [pathOf("native")]: native[`${model.learner.key}.mpy`]! };
}

/** For each file: the place, how many bytes are removed, and their replacement. */
type Changes = Readonly<Record<string, readonly (readonly [number, number, string])[]>>;

function changed(bytes: Uint8Array<ArrayBuffer>, changes: Changes[string]): Uint8Array<ArrayBuffer> {
  if (!changes.length) return bytes;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const [from, gone, come] of changes) {
    parts.push(bytes.subarray(at, from), fromBase64(come));
    at = from + gone;
  }
  return joined([...parts, bytes.subarray(at)]);
}

/** Return the module's file without the parts that the program does not have. */
function fileOf(module: string, more: readonly string[], some: PageData["more_of_device"]): string {
  const gone = (some[module] ?? []).filter((part) => !more.includes(`${module}:${part}`));
  return [module, ...gone].join("-");
}

const WITHOUT = /-[^/]*(?=\.mpy$)/; // in a file's name

const pathOf = (module: string): string => `${PACKAGE}/${module.replaceAll(".", "/")}.mpy`;

/** Return the optional modules that this program has. */
function moreModules({ sensor, switches }: Target): string[] {
  return [
    ...modulesFor(sensor),
    ...(switches.length ? OF_SWITCHES : []),
    ...(switches.flat().some(isTone) ? [OF_TONES] : []),
    ...(switches.flat().some(isKey) ? [OF_KEYS] : []),
  ];
}

/** Return the program's modules, and those that the learner has imported in the page. */
function modulesOf(model: Model, { sensor }: Target, more: readonly string[]): string[] {
  const imported = model.saved.modules
    .filter((name, _, all) => !all.some((other) => other.startsWith(`${name}.`))) // a folder
    .map((name) => name.slice(PACKAGE.length + 1))
    .filter((name) => name !== OF_BYTECODE);
  const { modules, motion_modules: motion } = model.learner;
  const names = [...(sensor.kind === "serial" ? modules : motion), ...imported, ...more];
  return [...new Set(names.filter((name) => !name.includes(":")))].sort();
}

function states(model: Model): Record<string, Uint8Array> {
  return { [LEARNER]: model.saved.learner, [QUANTIZER]: model.saved.quantizer };
}

/** Return JSON as Python's json.dumps() writes it. */
function pythonJson(value: unknown): Uint8Array {
  const lines = JSON.stringify(value, null, 1).replace(/,\n */g, ", ").replace(/\n */g, "");
  const escaped = (mark: string): string => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return new TextEncoder().encode(lines.replace(/[\u007f-\uffff]/g, escaped) + "\n");
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value, null, 2) + "\n");
}
