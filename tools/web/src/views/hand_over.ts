// The second step: the lesson goes to a board, which has a sensor of its own or gets samples from
// here; and it is saved, as a project and as a recording.

import { choice, field, make, panel } from "../dom";
import type { Gestures } from "../learning/gestures";
import { isKnown, SERIAL } from "../link/sensor_settings";
import { checkTarget, takenOn, type Model, type Target } from "../model";
import type { Board, PageData } from "../page_data";
import { hopOf, windowOf } from "../learning/windows";
import { projectFile } from "../project";
import type { Settings, TomlContent } from "../project_toml";
import type { Source } from "../sensors";
import { hex32, texts } from "../texts";
import { howToWire, SensorFields } from "./sensor_fields";
import { SwitchFields, type Chosen } from "./switch_fields";
import { ontoBoard, save } from "./take_away";
import { zip } from "../zip";
import { orWhyNot } from "./why_not";
import { hasParts, wiring, type Parts } from "./wiring";

const PART = "gestures-"; // prefix of its buttons' names
const [CSV, PROJECT, FOLDER] = ["gestures.csv", "gestures.mshrub", "gestures.zip"];
const [READINGS, TRAINED] = ["readings.csv", "readings.mshrub"] as const; // in that folder
const FIRST = "rpi_pico";
const LEAST_BYTES = 16384; // bytes of the smallest learner
const STEP = 1024; // bytes
const FEW = 1000; // samples up to which a larger learner is no better
export const MOTION = "mpu6050"; // measures the motion that a phone measures, in the same units
const words = texts.handOver;
type Network = Readonly<Record<string, string>>; // options of `build`

export class HandOver {
  readonly element: HTMLElement;
  readonly kept = make("div", { id: "gestures-keep", hidden: true }); // placed with the lesson
  saved = true; // whether a file has the whole lesson
  private readonly waits = make("p", { class: "waits", id: "board-waits" }, words.waits);
  private readonly parts = make("div", { class: "results", id: "gestures-take", hidden: true });

  private board: Board;
  switched: Chosen | null = null; // things that each class switches
  private toml: TomlContent = {}; // the content of a project's file
  private called = new Map<string, string>(); // current names of that file's classes
  private given: Settings["given"] = {}; // pins of the motion sensor

  /**
   * `blank` is how a board gets MicroPython. `failed` gets the reason for an error; `sized` gives the
   * learner another size, and returns the new model. `chosen` is called after a choice.
   */
  constructor(
    private readonly data: PageData,
    blank: HTMLElement,
    private readonly failed: (error: unknown) => void,
    private readonly sized: (bytes: number) => Promise<Model | null>,
    private readonly chosen: () => void,
  ) {
    this.board = data.boards.find(({ key }) => key === FIRST)!;
    this.element = make("div", {}, this.waits, this.parts, blank);
  }

  /** Return the bytes of a learner of that many samples on the chosen board. */
  bytesFor(samples: number): number {
    return bytesOn(this.board, samples);
  }

  /** The chosen board's key. */
  get chosenBoard(): string {
    return this.board.key;
  }

  /** Choose a board, if the page knows it. */
  choose(key: string): void {
    this.board = this.data.boards.find((each) => each.key === key) ?? this.board;
  }

  /** Take over the settings of a project's file. */
  take({ content, board, sensor, given }: Settings): void {
    this.toml = content;
    this.called.clear();
    if (board) this.board = board;
    this.given = sensor?.key === MOTION ? given : {};
  }

  /** Rename classes, which switch the same things under their new names. */
  rename(before: readonly string[], after: readonly string[]): void {
    if (before.length !== after.length) return;
    const now = (name: string): string => after[before.indexOf(name)] ?? name;
    const known = new Set(this.called.values());
    const more = before.filter((name) => !known.has(name) && !this.called.has(name));
    this.called = new Map([...this.called, ...more.map((name) => [name, name] as const)].map(([name, to]) => [name, now(to)]));
    const { switched } = this;
    if (!switched || switched.kind === "mqtt") return;
    const of = after.map((name, c) => [name, switched.of[before[c]!]] as const);
    this.switched = { ...switched, of: Object.fromEntries(of.filter((each): each is [string, string] => each[1] !== undefined)) };
  }

  /** Restore what returning classes switched; later choices stay. */
  recall(before: Chosen | null): void {
    const { switched } = this;
    if (before?.kind !== switched?.kind) return;
    this.switched = switched && { ...switched, of: { ...before?.of, ...switched.of } };
  }

  clear(): void {
    this.saved = false;
    for (const part of [this.parts, this.kept]) {
      part.replaceChildren();
      part.hidden = true;
    }
    this.waits.hidden = false;
  }

  show(model: Model, gestures: Gestures, source: Source): void {
    const keep = (newest: Model): void => this.kept.replaceChildren(this.keepPanel(newest, gestures, source));
    this.parts.replaceChildren(this.boardPanel(model, source, keep, gestures));
    keep(model);
    this.parts.hidden = this.kept.hidden = false;
    this.waits.hidden = true;
  }

  /** Make the panel of the board; `changed` gets the model at another board's size. */
  private boardPanel(
    first: Model,
    source: Source,
    changed: (model: Model) => void,
    gestures: Gestures,
  ): HTMLElement {
    const { lesson: { above }, shape: { sensor: taught } } = gestures;
    let model = first;
    let waits = false; // whether the panel waits for the learner at another size
    const samples = gestures.counts.reduce((sum, each) => sum + each, 0);
    const size = (board = this.board): number => bytesOn(board, samples);
    const lacks = (board: Board): number => lacking(board, size(board), model, hasSensor());
    const boards = choice(`${PART}board`, this.data.boards.map(({ key, name }) => [key, name]));
    const sameSensor = taught && isKnown(taught, this.data.sensors) ? (["own"] as const) : [];
    const kinds = [...sameSensor, ...(source === "motion" ? (["motion"] as const) : []), "serial"] as const;
    const sensors = choice(`${PART}sensor`, kinds.map((kind) => [kind, words.sensors[kind]] as const));
    const hasSensor = (): boolean => sensors.value !== "serial";
    const fitting = this.data.boards.find((board) => !lacks(board));
    if (lacks(this.board)) this.board = fitting ?? this.board;
    boards.value = this.board.key;
    const nameBoards = (): void =>
      this.data.boards.forEach((board, i) => {
        const bytes = lacks(board);
        boards.options[i]!.text = bytes ? words.lacks(board.name, bytes) : board.name;
      });
    const steps = make("div", {});
    const chosen = (): Board => this.board;
    const switches = new SwitchFields(model.classNames, chosen(), () => show(), this.switched);
    const pins = new SensorFields(PART, () => show());
    const show = (): void => {
      this.switched = switches.chosen;
      this.chosen();
      const steady = { own: taught!, motion: null, serial: SERIAL };
      const kind = sensors.value as (typeof kinds)[number];
      const made = (): HTMLElement[] => {
        const target = { board: chosen(), sensor: steady[kind] ?? pins.sensor, switches: switches.switched, above };
        checkTarget(model, target);
        const { brokerOptions } = switches;
        const put = brokerOptions
          ? make("p", { id: "board-told" }, words.passwords)
          : ontoBoard(model, target, this.data, this.failed, PART);
        return [
          make("p", { id: "board-bytes" }, words.size(size(), target.board.bytes)),
          ...this.toWire(kind, target, switches.parts, model.classNames, source),
          ...(waits
            ? [make("p", { role: "status" }, words.resizing)]
            : [put, ...this.folderPart(target, gestures, brokerOptions ?? {})]),
        ];
      };
      steps.replaceChildren(...orWhyNot(made));
    };
    const showPins = (): void => {
      if (sensors.value === "motion") this.showPins(pins, chosen(), model);
      else pins.hide();
    };
    const resize = async (): Promise<void> => {
      const bytes = size();
      waits = model.parameters["bytes"] !== bytes;
      if (!waits) return;
      const made = await this.sized(bytes);
      if (!made || bytes !== size()) return; // another model is on its way
      [model, waits] = [made, false];
      changed(model);
      show();
    };
    boards.onchange = () => {
      this.board = this.data.boards.find(({ key }) => key === boards.value)!;
      this.given = {};
      resize().catch(this.failed);
      showPins();
      switches.show(chosen());
    };
    sensors.onchange = () => {
      nameBoards();
      showPins();
      show();
    };
    resize().catch(this.failed);
    sensors.onchange(new Event("change"));
    const fields = [field(texts.playground.board, boards), field(texts.teach.source, sensors)];
    const settings = make("div", { class: "settings" }, ...fields, pins.element, switches.element);
    return panel(words.connect, settings, steps);
  }

  /** Show the pins of a motion sensor that gives the taught readings. */
  private showPins(pins: SensorFields, board: Board, { extraction }: Model): void {
    const motionSensor = this.data.sensors.find(({ key }) => key === MOTION)!;
    const { rate, channels } = extraction!;
    pins.show(motionSensor, board, this.given, { rate, axes: channels.length });
  }

  /** Make the text on the fitting sensor and its wiring. */
  private toWire(
    kind: "own" | "motion" | "serial",
    { board, sensor, switches, above }: Target,
    parts: Parts,
    classNames: readonly string[],
    source: Source,
  ): HTMLElement[] {
    const fits = { motion: words.wire, own: words.ownSensor, serial: words.fits[source] }[kind];
    return [
      make("p", { id: "board-fits" }, fits),
      ...(kind === "serial" ? [] : [make("p", {}, words.line(classNames))]),
      ...(above.some(Boolean) ? [make("p", { id: "board-threshold" }, words.thresholds(switches.length > 0))] : []),
      ...(kind === "motion" ? howToWire(board, sensor, parts) : hasParts(parts) ? [wiring(board, null, parts)] : []),
    ];
  }

  /** Make the button for a folder in which the commands continue, with the file that `microshrub init` writes. */
  private folderPart(target: Target, gestures: Gestures, network: Network): HTMLElement[] {
    const button = make("button", { type: "button", id: "take-folder", class: "plain" }, words.folder);
    button.onclick = () =>
      this.folder(target, gestures, network)
        .then((files) => save(FOLDER!, zip(files)))
        .catch(this.failed);
    return [make("p", {}, words.folderLead), make("pre", { tabindex: "0" }, "microshrub run"), button];
  }

  private async folder(
    { board, sensor, switches, above }: Target,
    gestures: Gestures,
    network: Network,
  ): Promise<Record<string, Uint8Array>> {
    const { labelKeys, NAME, renamedIn, sensorTexts, switchTexts, writtenToml } = await import("../project_toml");
    const before = renamedIn(this.toml, this.called);
    const { classNames, shape: { rate, zero } } = gestures;
    const hasSensor = sensor.kind !== "serial";
    const [sensors, window] = [sensorTexts(sensor), `window=${windowOf(rate)} hop=${hopOf(rate)} rate=${rate}`];
    const switched = switchTexts(switches, classNames);
    const needed = classNames.flatMap((name, c) => (above[c] ? [`${name}=${above[c]}%`] : []));
    const build = {
      ...(before["build"] as object | undefined),
      ...network,
      ...(switched.length ? { switch: switched } : {}),
      ...(switched.length && needed.length ? { "switch-above": needed } : {}),
    };
    const toml = writtenToml({
      ...before,
      board: board.key,
      data: READINGS,
      model: TRAINED,
      sensor: hasSensor ? (sensors.length > 1 ? sensors : sensors[0]!) : null,
      features: hasSensor ? window + (zero.some(Boolean) ? ` zero=${zero.join(",")}` : "") : null,
      "label-keys": labelKeys(classNames),
      simulate: { ...(this.toml["simulate"] as object | undefined), bytes: gestures.bytes },
      build: Object.keys(build).length ? build : null,
    });
    const text = (words: string): Uint8Array => new TextEncoder().encode(words);
    return { [NAME]: text(toml), [READINGS]: text(hasSensor ? gestures.readingsCsv() : gestures.csv()) };
  }

  private keepPanel(model: Model, gestures: Gestures, source: Source): HTMLElement {
    const csv = gestures.csv();
    const project = make("button", { type: "button", id: "take-gestures" }, words.save);
    project.onclick = () => {
      save(PROJECT!, projectFile(model, source, gestures, this.data, this.board.key, this.switched));
      this.saved = true;
    };
    const recording = make("button", { type: "button", id: "take-csv", class: "plain" }, words.csv);
    recording.onclick = () => save(CSV!, new Blob([csv], { type: "text/csv" }));
    const link = make("button", { type: "button", id: "take-link", class: "plain" }, words.link);
    const linked = make("input", { readonly: true, id: "link", hidden: true, "aria-label": words.linkIs });
    const status = make("p", { role: "status", id: "link-said" });
    const made = async (): Promise<string> =>
      (await import("../project_link")).linkTo(projectFile(model, source, gestures, this.data, this.board.key, this.switched));
    link.onclick = () => void showLink(linked, status, made);
    const command = `microshrub simulate ${PROJECT} --bytes ${model.parameters["bytes"] as number}`;
    return panel(
      words.keep,
      make("p", {}, words.keepLead),
      make("div", { class: "labels" }, project, recording, link),
      linked,
      status,
      make("p", {}, words.same),
      make("pre", { tabindex: "0" }, command),
      make("p", {}, texts.state.page, " ", make("code", { id: "gestures-crc32" }, hex32(model.crc32))),
    );
  }
}

/** Show a link, and copy it to the clipboard if the browser allows that. */
async function showLink(field: HTMLInputElement, status: HTMLElement, made: () => Promise<string>): Promise<void> {
  try {
    field.value = await made();
    field.hidden = false;
    field.select();
    const copied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
    status.textContent = copied ? words.copied : words.linkIs;
  } catch (error) {
    field.hidden = true;
    status.textContent = error instanceof Error ? error.message : String(error);
  }
}

/** Return the bytes of a learner of that many samples on a board: up to FEW, more bytes are no better. */
function bytesOn({ bytes }: Board, samples: number): number {
  const wanted = Math.max(1, samples / FEW) * LEAST_BYTES;
  return Math.min(bytes, STEP * Math.round(wanted / STEP));
}

/** Return the bytes of RAM that a board lacks for the model, with a learner of that size; 0: it fits. */
function lacking(board: Board, bytes: number, model: Model, hasSensor: boolean): number {
  const more = bytes - (model.parameters["bytes"] as number);
  return Math.max(0, takenOn(board, model, hasSensor) + more - board.heap_free_bytes);
}
