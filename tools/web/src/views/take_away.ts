// Downloads of a learned model: a board's program, and the simulator's file.

import { make } from "../dom";
import { checkTarget, modelFile, programFiles, takenOn, type Model, type Target } from "../model";
import type { Board, PageData, SensorKind } from "../page_data";
import { texts } from "../texts";
import { zip } from "../zip";
import { flashPanel } from "./flash_panel";
import { SensorChoice } from "./sensor_choice";
import { howToWire } from "./sensor_fields";
import { orWhyNot } from "./why_not";

const PART = "program-"; // prefix of its fields' names
const FILE = "page.mshrub";

/** Make the buttons for a model, with the next steps for their files; `failed` gets the reason for an error. */
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

/** Make the choice of sensors that fit the model, and the program that reads them. */
function withSensor(
  model: Model,
  board: Board,
  data: PageData,
  failed: (why: string) => void,
): HTMLElement[] {
  const kinds = data.sensors.filter((kind) => fits(kind, model));
  const steps = make("div", {});
  const show = (): void => {
    const made = (): HTMLElement[] => {
      const { sensor } = choice;
      checkValues(choice, model);
      const target = { board, sensor, switches: [], above: [] };
      checkTarget(model, target);
      const how = choice.chosen.length ? howToWire(board, sensor, { lights: [] }) : [];
      return [...how, ontoBoard(model, target, data, failed)];
    };
    steps.replaceChildren(...orWhyNot(made));
  };
  const axes = model.featureNames.length < 6 ? 3 : 6;
  const given = ({ settings }: SensorKind): Record<string, number> => ("axes" in settings ? { axes } : {});
  const choice = new SensorChoice(PART, kinds, given, show, texts.handOver.sensors.serial);
  choice.show(board);
  show();
  const settings = make("div", { class: "settings" }, choice.element);
  return [...(kinds.length ? [settings] : []), steps];
}

/** Return whether a sensor fits: sensors give whole numbers without units, no more than the model learned. */
function fits(kind: SensorKind, { units, featureNames }: Model): boolean {
  const count = featureNames.length;
  if (units.some(({ offset, digits }) => offset !== 0 || digits !== 0)) return false;
  if ("axes" in kind.settings) return count >= 3;
  return "pins" in kind.settings || kind.channels.length <= count;
}

/** Throw an Error for people if the sensors do not give as many values as the model takes. */
function checkValues({ chosen, channels }: SensorChoice, { featureNames }: Model): void {
  if (!chosen.length || channels.length === featureNames.length) return;
  const giving = chosen.length > 1 ? texts.sensors.together : texts.sensors.one(chosen[0]!.key);
  throw new Error(texts.sensors.values(giving, channels.length, featureNames));
}

/**
 * Make the buttons to flash the board, or to download its program, if it fits: the size is known for
 * default options and a usual shape, `flash` is exact. `part` is the prefix of the buttons' names.
 */
export function ontoBoard(
  model: Model,
  target: Target,
  data: PageData,
  failed: (why: string) => void,
  part = "",
): HTMLElement {
  const { board, sensor } = target;
  const taken = takenOn(board, model, sensor.kind !== "serial");
  if (taken > board.heap_free_bytes) {
    const words = texts.takeAway.tooLarge(board.name, taken, board.heap_free_bytes);
    return make("p", { class: "bad", id: `${part}too-large` }, words);
  }
  const program = make("button", { type: "button", id: `${part}take-program` }, texts.takeAway.program);
  program.onclick = () =>
    programFiles(model, target, board.arch, data)
      .then((files) => save(`microshrub-${board.key}.zip`, zip(files)))
      .catch((error: unknown) => failed(String(error)));
  const flash = `microshrub flash microshrub-${board.key} --board ${board.key} --port PORT`;
  return make(
    "div",
    {},
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
