// A learned model, as the simulator's .mshrub file and as the program of a board.

import type { Saved } from "./learning/messages";
import type { Extraction } from "./learning/windows";
import { modulesFor, type SensorSettings } from "./link/sensor_settings";
import { BYTECODE, loadLibrary } from "./page_data";
import type { Around, Board, Learner, PageData, Parameters, Switched } from "./page_data";
import type { Unit } from "./streams/units";
import { zip } from "./zip";

const [CONFIG, LEARNER, QUANTIZER] = ["config.json", "learner.state", "quantizer.state"] as const;
const PACKAGE = "microshrub";
const OF_SWITCHES = "device.switches";
const OF_BYTECODE = "bytecode_pointers"; // a module that only bytecode needs

/** A model, and what it has learned. */
export interface Model {
  readonly learner: Learner;
  readonly parameters: Parameters;
  readonly featureNames: readonly string[];
  readonly classNames: readonly string[];
  readonly units: readonly Unit[];
  readonly stream: string; // its name
  readonly samples: number;
  readonly accuracy: number; // millionths
  readonly crc32: number;
  readonly saved: Saved;
  readonly extraction?: Extraction; // what the features were made of
}

/** What a board's program has around the model. */
export interface Target {
  readonly board: Board;
  /** Samples come over the line; it feels its motion; or it reads the sensor with these settings. */
  readonly sensor: "serial" | "motion" | SensorSettings;
  readonly switches: readonly (readonly Switched[])[]; // of each class; none: nothing is switched
}

type Files = Readonly<Record<string, Uint8Array>>;

/** The file that `microshrub simulate --save` writes, and more files in it. */
export function modelFile(model: Model, data: PageData, more: Files = {}): Blob {
  const config = {
    format: data.model_format,
    learner: model.learner.kind,
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

/** The files of `microshrub build` for a board, with the library for that processor. */
export async function programFiles(
  model: Model,
  target: Target,
  arch: string,
  data: PageData,
): Promise<Record<string, Uint8Array>> {
  const library = await loadLibrary(arch);
  const config = {
    version: data.config_version,
    program: data.program,
    learner: model.learner.kind,
    parameters: model.parameters,
    class_names: model.classNames,
    feature_names: model.featureNames,
    units: model.units.map(({ offset, digits }) => [offset, digits]),
    quantizer: QUANTIZER,
    warmup: model.learner.grows ? null : 0,
    model: LEARNER,
    ...aroundOf(model, target),
  };
  const plain = arch === BYTECODE ? [OF_BYTECODE] : [];
  const compiled = [...modulesOf(model, target), ...plain].map((name) => {
    const path = `${PACKAGE}/${name.replaceAll(".", "/")}.mpy`;
    return [`lib/${path}`, library[path]!] as const;
  });
  return {
    "main.py": new TextEncoder().encode(data.main),
    [CONFIG]: json(config),
    ...states(model),
    ...Object.fromEntries(compiled),
  };
}

function aroundOf({ extraction }: Model, { board, sensor, switches }: Target): Around {
  const { extraction: _, ...motion } = board.motion;
  return {
    ...(sensor === "serial" ? board.around : motion),
    ...(typeof sensor === "object" ? { sensor } : {}),
    ...(sensor !== "serial" && extraction ? { extraction: extraction.options } : {}),
    ...(switches.length ? { switches } : {}),
  };
}

/** The program's modules, and those that the learner has imported in the page. */
function modulesOf(model: Model, { sensor, switches }: Target): string[] {
  const imported = model.saved.modules
    .filter((name, _, all) => !all.some((other) => other.startsWith(`${name}.`))) // a folder
    .map((name) => name.slice(PACKAGE.length + 1))
    .filter((name) => name !== OF_BYTECODE);
  const { modules, motion_modules: motion } = model.learner;
  const ofSensor = typeof sensor === "object" ? modulesFor(sensor) : [];
  const more = [...ofSensor, ...(switches.length ? [OF_SWITCHES] : [])];
  return [...new Set([...(sensor === "serial" ? modules : motion), ...imported, ...more])].sort();
}

function states(model: Model): Record<string, Uint8Array> {
  return { [LEARNER]: model.saved.learner, [QUANTIZER]: model.saved.quantizer };
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value, null, 2) + "\n");
}
