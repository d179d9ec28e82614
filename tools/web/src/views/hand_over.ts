// What was taught, handed over: a project to be saved, a recording, a board that goes on.

import { choice, field, make, panel } from "../dom";
import type { Gestures } from "../learning/gestures";
import type { Model } from "../model";
import type { PageData } from "../page_data";
import { projectFile } from "../project";
import type { Source } from "../sensors";
import { hex32, texts } from "../texts";
import { ontoBoard, save } from "./take_away";

const PART = "gestures-"; // begins the names of its buttons
const [CSV, PROJECT] = ["gestures.csv", "gestures.mshrub"];
const DEFAULT_BOARD = "rpi_pico";
const words = texts.teach;

export class HandOver {
  readonly element = make("div", { class: "results", id: "gestures-take", hidden: true });

  constructor(
    private readonly data: PageData,
    private readonly failed: (error: unknown) => void,
  ) {}

  clear(): void {
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  show(model: Model, gestures: Gestures, source: Source): void {
    const { recordings } = gestures;
    const csv = gestures.csv();
    const project = make("button", { type: "button", id: "take-gestures" }, words.save);
    project.onclick = () => save(PROJECT!, projectFile(model, source, recordings, this.data));
    const recording = make("button", { type: "button", id: "take-csv", class: "plain" }, words.csv);
    recording.onclick = () => save(CSV!, new Blob([csv], { type: "text/csv" }));
    const command = `microshrub simulate ${PROJECT} --bytes ${model.parameters["bytes"] as number}`;
    const saved = panel(
      words.keep,
      make("p", {}, words.keepLead),
      make("div", { class: "labels" }, project, recording),
      make("p", {}, words.same),
      make("pre", { tabindex: "0" }, command),
      make("p", {}, texts.state.page, " ", make("code", { id: "gestures-crc32" }, hex32(model.crc32))),
    );
    this.element.replaceChildren(this.boardPanel(model), saved);
    this.element.hidden = false;
  }

  private boardPanel(model: Model): HTMLElement {
    const boards = choice(`${PART}board`, this.data.boards.map(({ key, name }) => [key, name]));
    boards.value = DEFAULT_BOARD;
    const steps = make("div", {});
    boards.onchange = () => {
      const board = this.data.boards.find(({ key }) => key === boards.value)!;
      steps.replaceChildren(ontoBoard(model, board, this.data, this.failed, PART));
    };
    boards.onchange(new Event("change"));
    return panel(texts.takeAway.title, field(texts.playground.board, boards), steps);
  }
}
