// The choice of a sensor for a board's program, or of two whose values make one reading together.

import { choice, field, make } from "../dom";
import { channelsOf, SERIAL, together, type Setting, type SensorSettings } from "../link/sensor_settings";
import type { Board, SensorKind } from "../page_data";
import { texts } from "../texts";
import { nameOf, SensorFields } from "./sensor_fields";

type Given = (kind: SensorKind) => Readonly<Record<string, Setting>>;

const NONE = "none";
const words = texts.sensors;

export class SensorChoice {
  readonly first: HTMLSelectElement;
  readonly element: HTMLElement;
  private readonly second: HTMLSelectElement;
  private readonly fields: readonly [SensorFields, SensorFields];
  private board!: Board;

  /**
   * `part` is the prefix of the fields' names, and `given` replaces some defaults. With `none`, the first
   * choice is no sensor: samples come over the line.
   */
  constructor(
    part: string,
    private readonly kinds: readonly SensorKind[],
    private readonly given: Given,
    private readonly changed: () => void,
    none?: string,
  ) {
    const names = kinds.map((kind) => [kind.key, nameOf(kind)] as const);
    this.first = choice(`${part}sensor`, [...(none ? [[SERIAL.kind, none] as const] : []), ...names]);
    this.second = choice(`${part}second`, [[NONE, words.none], ...names]);
    this.fields = [new SensorFields(part, changed), new SensorFields(`${part}second-`, changed)];
    const [ofFirst, ofSecond] = this.fields;
    const label = field(words.second, this.second);
    this.element = make("div", { class: "switches" }, field(texts.teach.source, this.first), ofFirst.element, label, ofSecond.element);
    this.first.onchange = this.second.onchange = () => {
      this.show(this.board);
      this.changed();
    };
  }

  /** Show the fields of the chosen sensors, with the pins of a board. */
  show(board: Board): void {
    this.board = board;
    const [first, second] = [this.kindOf(this.first), this.kindOf(this.second)];
    this.second.disabled = !first;
    for (const [i, kind] of [first, first && second].entries()) {
      if (kind) this.fields[i]!.show(kind, board, this.given(kind));
      else this.fields[i]!.hide();
    }
  }

  /** Choose a single sensor. */
  choose({ key }: SensorKind): void {
    [this.first.value, this.second.value] = [key, NONE];
  }

  /** The chosen sensors in config.json. Throws an Error for people, with the texts of `build`. */
  get sensor(): SensorSettings {
    return this.chosen.length ? together(this.settings) : SERIAL;
  }

  /** The names of a reading's values. Throws as `sensor` does. */
  get channels(): readonly string[] {
    const names = this.chosen.flatMap((kind, i) => channelsOf(kind, this.settings[i]!));
    return names.map((name, i) => {
      const again = names.slice(0, i).filter((each) => each === name).length;
      return again ? `${name}_${again + 1}` : name;
    });
  }

  /** The chosen sensors: none, one or two. */
  get chosen(): readonly SensorKind[] {
    const first = this.kindOf(this.first);
    const second = this.kindOf(this.second);
    return first ? [first, ...(second ? [second] : [])] : [];
  }

  private get settings(): readonly SensorSettings[] {
    return this.chosen.map((_, i) => this.fields[i]!.sensor);
  }

  private kindOf(list: HTMLSelectElement): SensorKind | undefined {
    return this.kinds.find(({ key }) => key === list.value);
  }
}
