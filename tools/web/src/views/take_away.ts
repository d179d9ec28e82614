// What a learned model can be taken away as: a board's program, and the simulator's file.

import { choice, field, make } from "../dom";
import { channelsOf, SERIAL, type SensorSettings } from "../link/sensor_settings";
import { checkTarget, modelFile, programFiles, type Model, type Target } from "../model";
import type { Board, PageData, SensorKind } from "../page_data";
import { texts } from "../texts";
import { zip } from "../zip";
import { flashPanel } from "./flash_panel";
import { howToWire, nameOf, SensorFields } from "./sensor_fields";
import { tooLarge } from "./too_large";
import { orWhyNot } from "./why_not";

const PART = "program-"; // begins the names of its fields
const FILE = "page.mshrub";

/** The buttons for a model, and how to go on with what they give; `failed` is told why not. */
export function takeAway(
  model: Model,
  board: Board,
  data: PageData,
  failed: (why: string) => void,
): HTMLElement {
  const file = make("button", { type: "button", id: "take-model" }, texts.takeAway.model);
  file.onclick = () => save(FILE, modelFile(model, data));
  return make(
    "div",
    {},
    ...withSensor(model, board, data, failed),
    make("p", {}, texts.takeAway.open),
    make("pre", { tabindex: "0" }, `microshrub show ${FILE}`),
    file,
  );
}

/** The choice of a sensor that gives what was learned, and the program that reads it. */
function withSensor(
  model: Model,
  board: Board,
  data: PageData,
  failed: (why: string) => void,
): HTMLElement[] {
  const kinds = data.sensors.filter((kind) => fits(kind, model));
  const names = kinds.map((kind) => [kind.key, nameOf(kind)] as const);
  const sensors = choice(`${PART}sensor`, [[SERIAL.kind, texts.handOver.sensors.serial], ...names]);
  const chosen = (): SensorKind | undefined => kinds.find(({ key }) => key === sensors.value);
  const steps = make("div", {});
  const show = (): void => {
    const made = (): HTMLElement[] => {
      const kind = chosen();
      const sensor = kind ? givenBy(kind, fields.sensor, model) : SERIAL;
      const target = { board, sensor, switches: [] };
      checkTarget(model, target, data);
      const how = kind ? howToWire(board, sensor, { lights: [] }) : [];
      return [...how, ontoBoard(model, target, data, failed)];
    };
    steps.replaceChildren(...orWhyNot(made));
  };
  const fields = new SensorFields(PART, show);
  sensors.onchange = () => {
    const kind = chosen();
    if (kind) fields.show(kind, board, {}, fixedFor(kind, model));
    else fields.hide();
    show();
  };
  show();
  const settings = make("div", { class: "settings" }, field(texts.teach.source, sensors), fields.element);
  return [...(kinds.length ? [settings] : []), steps];
}

/** Sensors give whole numbers: as many as were learned, in no units of their own. */
function fits(kind: SensorKind, { units, featureNames }: Model): boolean {
  const count = featureNames.length;
  if (units.some(({ offset, digits }) => offset !== 0 || digits !== 0)) return false;
  if ("axes" in kind.settings) return count === 3 || count === 6;
  return "pins" in kind.settings || kind.channels.length === count;
}

const fixedFor = ({ settings }: SensorKind, { featureNames }: Model): Record<string, number> =>
  "axes" in settings ? { axes: featureNames.length } : {};

/** The sensor, if it gives as many values as the model takes. Throws an Error for people. */
function givenBy(kind: SensorKind, sensor: SensorSettings, { featureNames }: Model): SensorSettings {
  const given = channelsOf(kind, sensor).length;
  if (given === featureNames.length) return sensor;
  throw new Error(texts.sensors.values(kind.key, given, featureNames));
}

/**
 * From here onto the board, or as a program to be put there; `part` begins the buttons' names, and
 * `file` is what the model is saved as.
 */
export function ontoBoard(
  model: Model,
  target: Target,
  data: PageData,
  failed: (why: string) => void,
  part = "",
  file = FILE,
): HTMLElement {
  const { board } = target;
  const program = make("button", { type: "button", id: `${part}take-program` }, texts.takeAway.program);
  program.onclick = () =>
    programFiles(model, target, board.arch, data)
      .then((files) => save(`microshrub-${board.key}.zip`, zip(files)))
      .catch((error: unknown) => failed(String(error)));
  const flash = `microshrub flash microshrub-${board.key} --board ${board.key} --port PORT`;
  return make(
    "div",
    {},
    ...tooLarge(model, target, data, file),
    flashPanel(() => Promise.resolve(model), target, data, part),
    make("p", {}, texts.takeAway.unpack(board.name)),
    make("pre", { tabindex: "0" }, flash),
    program,
  );
}

/** Let the browser save a file. */
export function save(name: string, data: Blob): void {
  const address = URL.createObjectURL(data);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
