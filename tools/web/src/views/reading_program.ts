// A program for a board that sends the readings of its sensor, from which the page then learns.

import { checkPins } from "../board/pins";
import { choice, field, make } from "../dom";
import { freshModel } from "../learning/fresh_model";
import { rateOf, type Setting } from "../link/sensor_settings";
import type { Board, PageData, SensorKind } from "../page_data";
import { texts } from "../texts";
import { flashPanel } from "./flash_panel";
import { SensorChoice } from "./sensor_choice";
import { howToWire } from "./sensor_fields";
import { orWhyNot } from "./why_not";

const PART = "readings-"; // prefix of its fields' names
const DEFAULT_BOARD = "rpi_pico";
const FIRST = "mpu6050";
const words = texts.teach.readings;

type Given = Readonly<Record<string, Setting>>;

/** Return settings with at least a reading a second. */
const given = ({ settings: { rate } }: SensorKind): Given => (typeof rate === "number" ? {} : { rate: 1 });

export class ReadingProgram {
  readonly element: HTMLElement;
  private readonly board: HTMLSelectElement;
  private readonly sensors: SensorChoice;
  private readonly steps = make("div", {});
  private projectSensor: { readonly key: string; readonly settings: Given } | null = null;

  /** `classNames` returns the classes of the board's program. */
  constructor(
    private readonly data: PageData,
    private readonly classNames: () => readonly string[],
  ) {
    this.board = choice(`${PART}board`, data.boards.map(({ key, name }) => [key, name]));
    this.board.value = DEFAULT_BOARD;
    const quick = data.sensors.filter(({ seconds }) => seconds <= 1); // a gesture needs a reading a second
    const settingsOf = (kind: SensorKind): Given =>
      this.projectSensor?.key === kind.key ? this.projectSensor.settings : given(kind);
    this.sensors = new SensorChoice(PART, quick, settingsOf, () => this.showSteps());
    this.sensors.first.value = FIRST;
    this.board.onchange = () => this.show();
    this.element = make(
      "section",
      { class: "panel", id: "readings", hidden: true },
      make("h3", {}, words.title),
      make("p", {}, words.lead),
      make("div", { class: "settings" }, field(texts.playground.board, this.board), this.sensors.element),
      this.steps,
    );
  }

  offer(isOffered: boolean): void {
    this.element.hidden = !isOffered;
    if (isOffered) this.show();
    else this.steps.replaceChildren();
  }

  /** Choose a board and a sensor; null: no change. */
  take(board: Board | null, sensor: SensorKind | null, settings: Given): void {
    if (board) this.board.value = board.key;
    if (sensor) this.sensors.choose(sensor);
    this.projectSensor = sensor ? { key: sensor.key, settings } : null;
  }

  private get target(): Parameters<typeof flashPanel>[1] {
    const board = this.data.boards.find(({ key }) => key === this.board.value)!;
    return { board, sensor: this.sensors.sensor, switches: [], above: [] };
  }

  private show(): void {
    const board = this.data.boards.find(({ key }) => key === this.board.value)!;
    this.sensors.show(board);
    this.showSteps();
  }

  private showSteps(): void {
    this.steps.replaceChildren(...orWhyNot(() => this.made()));
  }

  private made(): HTMLElement[] {
    const { target } = this;
    const { board, sensor } = target;
    if (rateOf(sensor) < 1) throw new Error(texts.teach.cable.slow(1 / rateOf(sensor)));
    checkPins({ sensor }, board);
    const axes = this.sensors.channels;
    const model = (): ReturnType<typeof freshModel> =>
      freshModel(this.data.learners[0]!, axes, this.classNames());
    return [...howToWire(board, sensor, { lights: [] }), flashPanel(model, target, this.data, PART)];
  }
}
