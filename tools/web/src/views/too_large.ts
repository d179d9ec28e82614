// What is said where a board has too little room for a program as the page makes it, with a file
// for each module: `build`, which merges them and mixes machine code with bytecode, makes smaller ones.

import { buildCommand } from "../build_command";
import { make } from "../dom";
import type { Model, Target } from "../model";
import type { PageData } from "../page_data";
import { texts } from "../texts";

const words = texts.takeAway;

/**
 * Nothing where it fits. What a program takes is known for default options and a usual shape: `flash`
 * is exact. `file` is what the model is saved as.
 */
export function tooLarge(model: Model, target: Target, data: PageData, file: string): HTMLElement[] {
  const { board, sensor } = target;
  const which = sensor.kind === "serial" ? "program" : "motion";
  const beside = board.beside[model.learner.key]!;
  const states = model.saved.learner.length + model.saved.quantizer.length;
  const { heap_free_bytes: free, executable_bytes: executable } = board;
  const found = [];
  const taken = states + beside[which];
  if (taken > free) found.push(words.tooLarge(taken, free));
  if (executable !== null && beside.machine > executable) {
    found.push(words.tooMuchCode(board.name, beside.machine, executable));
  }
  if (!found.length) return [];
  const built = board.built[model.learner.key]![which];
  const builtTakes = states + built.beside;
  const fits = built.fits && builtTakes <= free;
  const said = [...found, fits ? words.builtFits(builtTakes) : words.builtNot(builtTakes, free)];
  const command = fits ? [buildCommand(file, model, target, data.pixel_colours)] : [];
  return [
    make("p", { class: "bad" }, said.join(" ")),
    ...command.map((each) => make("pre", { tabindex: "0", id: `${file.split(".")[0]}-build` }, each)),
  ];
}
