// What a learned model can be taken away as: a board's program, and the simulator's file.

import { make } from "../dom";
import { modelFile, programFiles, type Model, type Target } from "../model";
import type { Board, PageData } from "../page_data";
import { texts } from "../texts";
import { zip } from "../zip";
import { flashPanel } from "./flash_panel";

/** The buttons for a model, and how to go on with what they give; `failed` is told why not. */
export function takeAway(
  model: Model,
  board: Board,
  data: PageData,
  failed: (why: string) => void,
): HTMLElement {
  const file = make("button", { type: "button", id: "take-model" }, texts.takeAway.model);
  file.onclick = () => save("page.mshrub", modelFile(model, data));
  return make(
    "div",
    {},
    ontoBoard(model, { board, sensor: "serial", switches: [] }, data, failed),
    make("p", {}, texts.takeAway.open),
    make("pre", { tabindex: "0" }, "microshrub show page.mshrub"),
    file,
  );
}

/** From here onto the board, or as a program to be put there; `part` begins the buttons' names. */
export function ontoBoard(
  model: Model,
  target: Target,
  data: PageData,
  failed: (why: string) => void,
  part = "",
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
    ...warning(model, target),
    flashPanel(() => Promise.resolve(model), target, data, part),
    make("p", {}, texts.takeAway.unpack(board.name)),
    make("pre", { tabindex: "0" }, flash),
    program,
  );
}

/** What the program takes is known for default options and a usual shape: `flash` is exact. */
function warning(model: Model, { board, sensor }: Target): HTMLElement[] {
  const beside = board.beside[model.learner.key]![sensor === "serial" ? "program" : "motion"];
  const taken = model.saved.learner.length + model.saved.quantizer.length + beside;
  if (taken <= board.heap_free_bytes) return [];
  return [make("p", { class: "bad" }, texts.takeAway.tooLarge(taken, board.heap_free_bytes))];
}

/** Let the browser save a file. */
export function save(name: string, data: Blob): void {
  const address = URL.createObjectURL(data);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
