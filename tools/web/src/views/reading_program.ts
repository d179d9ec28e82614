// A program for a board that sends the readings of its sensor, with which the page is then taught.

import { choice, field, make } from "../dom";
import { freshModel } from "../learning/fresh_model";
import type { SensorSettings } from "../link/sensor_settings";
import type { Board, PageData } from "../page_data";
import { shapeOf } from "../sensors";
import { texts } from "../texts";
import { flashPanel } from "./flash_panel";
import { pinName, wiring } from "./wiring";

const DEFAULT_BOARD = "rpi_pico";
const RATE = 50; // readings a second of an analog pin
const words = texts.teach.readings;
type Kind = keyof typeof words.sensors;

export class ReadingProgram {
  readonly element: HTMLElement;
  private readonly board: HTMLSelectElement;
  private readonly sensor = choice("readings-sensor", Object.entries(words.sensors));
  private readonly steps = make("div", {});

  /** `classNames` gives those that the board's program shall have. */
  constructor(
    private readonly data: PageData,
    private readonly classNames: () => readonly string[],
  ) {
    this.board = choice("readings-board", data.boards.map(({ key, name }) => [key, name]));
    this.board.value = DEFAULT_BOARD;
    this.board.onchange = this.sensor.onchange = () => this.show();
    const fields = [field(texts.playground.board, this.board), field(texts.teach.source, this.sensor)];
    this.element = make(
      "section",
      { class: "panel", id: "readings", hidden: true },
      make("h3", {}, words.title),
      make("p", {}, words.lead),
      make("div", { class: "settings" }, ...fields),
      this.steps,
    );
  }

  offer(isOffered: boolean): void {
    this.element.hidden = !isOffered;
    if (isOffered) this.show();
    else this.steps.replaceChildren();
  }

  private show(): void {
    const board = this.data.boards.find(({ key }) => key === this.board.value)!;
    const [sensor, axes, how] = chosen(board, this.sensor.value as Kind);
    const model = (): ReturnType<typeof freshModel> =>
      freshModel(this.data.learners[0]!, axes, this.classNames());
    const target = { board, sensor, switches: [] };
    this.steps.replaceChildren(how, flashPanel(model, target, this.data, "readings-"));
  }
}

/** The sensor, the names of its values, and how it is wired. */
function chosen(board: Board, kind: Kind): [SensorSettings, readonly string[], HTMLElement] {
  if (kind === "adc") {
    const { analog } = board;
    const how = make("p", {}, words.pin(pinName(board, analog)));
    return [{ kind, pins: [analog], rate: RATE }, [`pin${analog}`], how];
  }
  const { sensor } = board.motion;
  return [sensor, shapeOf("motion")!.axes, wiring(board, sensor, { lights: [] })];
}
