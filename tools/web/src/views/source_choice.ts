// The sensor for teaching: one of this device, or of a board on a cable.

import { isBridge } from "../board/port";
import { groupedChoice, make } from "../dom";
import type { Shape } from "../learning/windows";
import { BoardSensor, type BoardListener } from "../link/board_sensor";
import { openSensor, shapeOf, SOURCES, type Sensor, type Source } from "../sensors";
import { texts } from "../texts";

const words = texts.teach;
const UNKNOWN: Shape = { axes: [], rate: 1, zero: [] }; // until the board has sent it

/** Return the default sensor: a phone's motion, the board of `microshrub bridge`, or else the pointer. */
export function usualSource(): Source {
  if (isBridge()) return "board";
  const isPhone = matchMedia("(pointer: coarse)").matches && typeof DeviceMotionEvent !== "undefined";
  return isPhone && isSecureContext ? "motion" : "pointer";
}

export class SourceChoice {
  readonly select = groupedChoice(
    "source",
    (["board", "play"] as const).map((group) => [
      words.sourceGroups[group],
      SOURCES[group].map((source) => [source, words.sources[source]] as const),
    ]),
  );
  readonly remark = make("small", { id: "source-remark" }); // whether a board can have this sensor
  private boardShape: Shape = UNKNOWN; // the shape of the board's readings

  /** `changed` is called when another sensor was chosen. */
  constructor(
    private readonly pad: HTMLElement,
    private readonly listener: BoardListener,
    changed: () => void,
  ) {
    this.select.value = usualSource();
    this.select.onchange = () => {
      this.boardShape = UNKNOWN;
      this.say();
      changed();
    };
    this.say();
  }

  get source(): Source {
    return this.select.value as Source;
  }

  /** The shape of the sensor's readings. */
  get shape(): Shape {
    return shapeOf(this.source) ?? this.boardShape;
  }

  get hint(): string {
    return words.hints[this.source];
  }

  /** A note on the board's readings, besides their names. */
  get note(): string {
    return shapeOf(this.source) || this.boardShape === UNKNOWN ? "" : words.cable.rate(this.boardShape.rate);
  }

  /** Choose a project's sensor. */
  choose(source: Source, shape: Shape = UNKNOWN): void {
    this.select.value = source;
    this.boardShape = shape;
    this.say();
  }

  private say(): void {
    this.remark.textContent = words.remarks[this.source];
  }

  /** Start to read the sensor; `wanted` is the shape that its readings have to have, null: any. */
  async open(wanted: Shape | null): Promise<Sensor> {
    if (this.source !== "board") return openSensor(this.source, this.pad);
    const sensor = await BoardSensor.open(wanted, this.listener);
    this.boardShape = sensor.shape;
    return sensor;
  }
}
