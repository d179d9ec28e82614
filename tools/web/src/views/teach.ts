// Teaches gestures: this device or a board is the sensor, buttons give the labels, and the model
// learns at once.

import { field, make } from "../dom";
import { Autosave, type Kept } from "../learning/autosave";
import { Gestures, type Heard } from "../learning/gestures";
import { isAlike, moved, renamed, withClass, without, withoutClass, withThreshold, type Above, type Lesson } from "../learning/lesson";
import { NoReadingsError } from "../link/board_sensor";
import type { Model } from "../model";
import type { PageData } from "../page_data";
import type { Recording } from "../learning/recording";
import { readProject } from "../project";
import type { Sensor } from "../sensors";
import { texts } from "../texts";
import { Answer } from "./answer";
import { ExamPanel } from "./exam_panel";
import { ClassCards } from "./class_cards";
import { checkName, freshName, MOST } from "./gesture_names";
import { MOTION, type HandOver } from "./hand_over";
import { LabelButtons } from "./label_buttons";
import { OpenProject } from "./open_project";
import { phonePart } from "./phone";
import { ReadingProgram } from "./reading_program";
import { RecordingCards } from "./recording_cards";
import { SourceChoice, usualSource } from "./source_choice";
import { Steps } from "./steps";
import { Trace } from "./trace";
import { askBeforeLeaving } from "./unsaved";
import { UnseenPanel } from "./unseen_panel";

const MOST_UNDONE = 50; // changes
const words = texts.teach;
const NOBODY = { standing: { state: "nothing" }, classNames: [], counts: [] } as const;

export class Teach {
  readonly element: HTMLElement;
  private names: readonly string[] = words.defaultNames; // the classes, before there is a learner
  private above: Above = []; // the thresholds, before there is a learner
  private readonly classes = new ClassCards({
    add: () => this.add(),
    rename: (label, name) => this.rename(label, name),
    remove: (label) => this.change((lesson) => withoutClass(lesson, label)),
    threshold: (label, percent) => this.change((lesson) => withThreshold(lesson, label, percent)),
    recorder: (label) => ({
      ready: () => void (this.running || this.steps.busy || this.begin()),
      start: () => this.record(label),
      stop: () => this.record(null),
    }),
  });
  private readonly undo = make("button", { type: "button", id: "undo", class: "plain", hidden: true }, words.undo);
  private readonly past: Kept[] = []; // the states before each change
  private readonly autosave = new Autosave();
  private readonly start = make("button", { type: "button", id: "learn-me" }, words.start);
  private readonly over = make("button", { type: "button", id: "start-over", class: "plain" }, words.over);
  private readonly opens: OpenProject;
  private readonly status = make("p", { role: "status", id: "learn-me-status" }, words.first);
  private readonly learned = make("p", { id: "learned", class: "told" });
  private readonly trace = new Trace();
  private readonly hint = make("span", { class: "hint" });
  private readonly pad = make("div", { class: "pad" }, this.trace.element, this.hint);
  private readonly source = new SourceChoice(
    this.pad,
    { interrupted: (why) => this.interrupted(why), ended: (why) => void this.lost(why) },
    () => {
      this.readings.offer(false);
      this.showSensor();
    },
  );
  private readonly buttons = new LabelButtons((label, again) => {
    if (this.steps.busy) this.wanted = label;
    else if (this.running) this.press(again ? null : label);
    else void this.begin(label);
  });
  private readonly answer = new Answer();
  private readonly unseen = new UnseenPanel();
  private readonly exam: ExamPanel;
  private readonly cards: RecordingCards;
  private readonly hand: HandOver;
  private readonly readings: ReadingProgram;
  private gestures: Gestures | null = null;
  private bytes = 0; // bytes of the learner
  private running = false;
  private readonly steps = new Steps(() => this.enable());
  private wanted: number | null = null; // the label of the first readings
  private changes = 0; // changes of the lesson, which outdate the models handed over before

  /** `hand` makes the second step; it gets callbacks for an error, for another size of the learner, and for a choice. */
  constructor(
    private readonly data: PageData,
    hand: (failed: (error: unknown) => void, sized: (bytes: number) => Promise<Model | null>, chosen: () => void) => HandOver,
  ) {
    this.hand = hand(
      (error) => this.complain(error),
      (bytes) => this.resize(bytes),
      () => this.keep(),
    );
    this.readings = new ReadingProgram(data, () => this.classNames);
    this.opens = new OpenProject((file) => this.openFile(file));
    this.exam = new ExamPanel(() => void this.examine());
    this.cards = new RecordingCards({
      play: (recording) => this.play(recording),
      remove: (recording) => this.change((lesson) => without(lesson, recording)),
      move: (recording, label) => this.change((lesson) => moved(lesson, recording, label)),
    });
    this.undo.onclick = () => this.takeBack();
    this.start.onclick = () => void (this.running ? this.alone(() => this.end()) : this.begin());
    this.over.onclick = () => {
      this.remember();
      this.startOver();
      this.keep();
    };
    askBeforeLeaving(() => this.unsaved);
    this.element = this.made();
    this.startOver();
  }

  private made(): HTMLElement {
    const { button: opens, file } = this.opens;
    const stage = make(
      "div",
      { class: "stage" },
      make("div", { class: "hand" }, this.pad, this.trace.legend, this.buttons.element),
      make("div", { class: "panel" }, make("h3", {}, words.hears), this.answer.element, this.learned),
      this.unseen.element,
    );
    const made = make(
      "div",
      {},
      stage,
      this.status,
      make("div", { class: "labels" }, this.start, this.undo, this.exam.button, opens, this.over, file),
      this.exam.element,
      this.readings.element,
      this.classes.element,
      ...phonePart(),
      this.cards.element,
      this.hand.kept,
    );
    this.placeSource(stage);
    return made;
  }

  /** Place the choice of the sensor first; a narrow window has no room for it next to the stage. */
  private placeSource(stage: HTMLElement): void {
    const settings = make("div", { class: "settings" }, field(words.source, this.source.select, this.source.remark));
    const narrow = matchMedia("(max-width: 40rem)");
    const place = (): void => (narrow.matches ? this.readings.element.after(settings) : stage.before(settings));
    narrow.onchange = place;
    place();
  }

  /** Whether part of the lesson is neither in a file nor in the browser. */
  private get unsaved(): boolean {
    return !this.hand.saved && !this.autosave.isDone && Boolean(this.gestures?.counts.some(Boolean));
  }

  private get classNames(): readonly string[] {
    return this.gestures?.classNames ?? this.names;
  }

  /** All that is needed to continue the lesson. */
  private get kept(): Kept {
    const { source, shape } = this.source;
    const lesson = this.gestures?.lesson ?? { classNames: this.names, above: this.above, recordings: [] };
    const { bytes, hand: { chosenBoard: board, switched } } = this;
    return { source, shape: this.gestures?.shape ?? shape, board, bytes, lesson, switched };
  }

  /** Save the lesson in the browser. */
  private keep(): void {
    this.autosave.keep(() => this.kept);
  }

  /** Remember the present state, for undo. */
  private remember(): void {
    this.past.push(this.kept);
    if (this.past.length > MOST_UNDONE) this.past.shift();
    this.undo.hidden = false;
  }

  /** Undo the newest change that had an effect. */
  private takeBack(): void {
    const now = this.kept;
    let before = this.past.pop();
    while (before && isSame(before, now)) before = this.past.pop();
    this.undo.hidden = !this.past.length;
    if (!before) return;
    if (this.gestures?.shape === before.shape) {
      void this.become(before.lesson);
      this.hand.recall(before.switched);
    } else void this.steps.doNext(() => this.goOnWith(before), (error) => this.complain(error));
  }

  private add(): void {
    const name = freshName(this.classNames);
    this.change((lesson) => withClass(lesson, name));
    this.classes.focusLast();
  }

  private rename(label: number, name: string): void {
    try {
      checkName(name, this.classNames.filter((_, c) => c !== label));
      this.change((lesson) => renamed(lesson, label, name));
    } catch (error) {
      this.complain(error);
      this.classes.show(this.classNames, this.kept.lesson.above);
    }
  }

  private alone(step: () => Promise<void>): Promise<void> {
    return this.steps.do(step, (error) => this.fail(error));
  }

  /** Enable the controls that can be used now. */
  private enable(): void {
    const { busy } = this.steps;
    for (const each of [this.start, this.over, this.opens.button, this.exam.button]) each.disabled = busy;
    this.undo.disabled = busy;
    this.classes.lock(busy);
    this.source.select.disabled = busy || this.gestures !== null;
  }

  /** Forget the whole lesson. */
  private startOver(): void {
    [this.names, this.above] = [this.classNames, this.kept.lesson.above];
    this.gestures?.end();
    this.gestures = null;
    this.bytes = this.hand.bytesFor(0);
    this.enable();
    this.over.hidden = true;
    this.readings.offer(false);
    this.learned.textContent = "";
    this.stand(false);
    this.changed();
    this.showSensor();
    this.showButtons();
    this.say(words.first);
  }

  /** Start to read the sensor; `label` is the label of the first readings. */
  private begin(label: number | null = null): Promise<void> {
    this.wanted = label;
    return this.alone(async () => {
      const { classNames } = this;
      this.say(words.loading);
      const wanted = this.gestures?.shape ?? null;
      const sensor = await this.source.open(wanted); // first: browsers ask only during a press
      this.readings.offer(false);
      await this.run(sensor, classNames);
      this.stand(true);
      this.press(this.wanted);
    });
  }

  private async run(sensor: Sensor, classNames: readonly string[]): Promise<void> {
    try {
      if (!this.gestures) this.showSensor(); // now its axes are known
      (await this.learner(classNames)).run(sensor);
    } catch (error) {
      await sensor.stop();
      throw error;
    }
  }

  /** Return the learner of the lesson so far, or a fresh one. */
  private async learner(classNames: readonly string[]): Promise<Gestures> {
    if (this.gestures) return this.gestures;
    const options = { bytes: this.bytes, seed: 0 };
    this.gestures = await Gestures.start(this.data.learners[0]!, options, this.source.shape, classNames, {
      heard: (what) => this.show(what),
      seen: (values, label) => this.trace.add(values, label !== null),
      examined: (exam) => this.exam.end(exam, this.classNames),
      judged: () => this.judge(),
      failed: (error) => this.fail(error),
    });
    this.over.hidden = false;
    this.enable();
    this.showButtons();
    return this.gestures;
  }

  /** Stop reading, learn the waiting samples, and hand the model over. */
  private async end(): Promise<void> {
    this.press(null);
    this.say(words.finishing);
    await this.gestures?.finish();
    this.stand(false);
    await this.handOver();
  }

  private async handOver(): Promise<void> {
    const { gestures, changes } = this;
    await gestures?.settled();
    const model = await gestures?.model();
    if (this.gestures !== gestures || this.changes !== changes || this.running) return;
    this.showCards();
    this.say(model ? words.stopped(model.samples) : words.nothing);
    if (gestures && model) this.hand.show(model, gestures, this.source.source);
  }

  private change(edit: (lesson: Lesson) => Lesson): void {
    this.remember();
    void this.become(edit(this.kept.lesson));
  }

  /** Replace the lesson. */
  private async become(lesson: Lesson): Promise<void> {
    const { gestures } = this;
    if (gestures) this.changed();
    this.hand.rename(this.classNames, lesson.classNames);
    gestures?.become(lesson);
    [this.names, this.above] = [lesson.classNames, lesson.above];
    this.keep();
    this.showButtons();
    if (!gestures) return;
    if (!this.running) await this.handOver();
    else if (!this.steps.busy) this.showLabel(); // the recording that still grows may have changed
  }

  /** Learn the lesson with a learner of `bytes`; return null if that is no longer wanted. */
  private async resize(bytes: number): Promise<Model | null> {
    const { gestures } = this;
    if (!gestures) return null;
    this.bytes = bytes;
    gestures.become(gestures.lesson, bytes);
    this.keep();
    const { changes } = this;
    await gestures.settled();
    const model = await gestures.model();
    return this.gestures === gestures && this.changes === changes ? model : null;
  }

  private play(recording: Recording): void {
    if (this.running) this.press(null);
    this.gestures?.play(recording);
  }

  /** Drop the results of the earlier lesson. */
  private changed(): void {
    this.changes++;
    this.hand.clear();
    this.exam.clear();
    this.answer.show(null, [], []);
    this.showCards();
  }

  /** Open a project, or its settings in microshrub.toml. */
  openFile(file: File): void {
    const open = (): Promise<void> => (file.name.endsWith(".toml") ? this.openSettings(file) : this.open(file));
    void this.steps.doNext(open, (error) => this.complain(error));
  }

  private async openSettings(file: File): Promise<void> {
    const { readToml } = await import("../project_toml"); // few people need this file
    const settings = readToml(await file.text(), this.data);
    const { classNames, sensor, given, board } = settings;
    classNames.forEach((name, c) => checkName(name, classNames.slice(0, c)));
    if (classNames.length === 1 || classNames.length > MOST) throw new Error(texts.toml.classes(classNames.length, MOST));
    this.remember();
    this.startOver();
    if (classNames.length) [this.names, this.above] = [classNames, []];
    if (sensor) this.source.choose(sensor.key === MOTION && usualSource() === "motion" ? "motion" : "board");
    this.hand.take(settings);
    this.readings.take(board, sensor, given);
    this.bytes = this.hand.bytesFor(0);
    this.showSensor();
    this.showButtons();
    this.keep();
    this.say(texts.toml.opened(board?.name ?? null, settings.content["sensor"] ?? null, this.names));
  }

  private async open(file: File): Promise<void> {
    const project = await readProject(file, this.data.sensors);
    this.remember();
    await this.goOnWith(project);
    this.hand.saved = true;
  }

  /** Continue a lesson that was saved in the browser. */
  resume(kept: Kept): void {
    void this.steps.doNext(() => this.goOnWith(kept), (error) => this.complain(error));
  }

  /** Continue a saved lesson in place of the present one. */
  private async goOnWith({ source, shape, board, bytes, lesson, switched }: Kept): Promise<void> {
    this.hand.choose(board);
    this.startOver();
    this.hand.switched = switched;
    this.source.choose(source, shape);
    [this.names, this.above] = [lesson.classNames, lesson.above];
    this.showSensor();
    this.showButtons();
    this.keep();
    if (!lesson.recordings.length) return;
    this.bytes = bytes;
    this.say(words.loading);
    const gestures = await this.learner(lesson.classNames);
    this.stand(false);
    gestures.become(lesson);
    this.showButtons();
    await this.handOver();
  }

  private async examine(): Promise<void> {
    if (!this.running) await this.begin();
    if (!this.running || !this.gestures) return;
    this.press(null);
    this.gestures.examine();
  }

  /** Report that the line to the board is lost, with the reason; null: it is back. */
  private interrupted(why: string | null): void {
    if (!this.running) return;
    if (why === null) this.say(`${words.cable.back} ${this.nextStep(this.gestures?.label ?? null)}`);
    else this.say(words.cable.waits(why), true);
  }

  /** Stop, as the board is lost for good; the lesson is kept. */
  private async lost(why: string): Promise<void> {
    await this.steps.doNext(() => this.end(), (error) => this.fail(error));
    this.say(words.cable.lost(why), true);
  }

  /** Stop after an error. */
  private fail(error: unknown): void {
    if (this.running) void this.gestures?.finish();
    if (this.gestures && !this.gestures.recordings.length) this.startOver();
    this.readings.offer(error instanceof NoReadingsError);
    this.stand(false);
    this.complain(error);
  }

  /** Report an error that stops nothing else. */
  private complain(error: unknown): void {
    this.say(error instanceof Error ? error.message : String(error), true);
  }

  private stand(running: boolean): void {
    this.running = running;
    this.start.textContent = running ? words.stop : this.gestures ? words.goOn : words.start;
    this.hint.hidden = running || this.gestures !== null;
  }

  private showSensor(): void {
    this.trace.clear(this.source.shape.axes, this.source.note);
    this.hint.textContent = this.source.hint;
  }

  private showButtons(): void {
    const { classNames: names, above } = this.kept.lesson;
    this.buttons.offer(names);
    this.classes.show(names, above);
    this.answer.begin(names, above);
    this.showCards();
  }

  /** Set the class of the readings from now on; null: they are only recognised. */
  private press(label: number | null): void {
    if (!this.gestures) return;
    if (label !== null) this.remember();
    if (label !== null) this.changed();
    else if (this.gestures.exam) this.exam.clear();
    this.gestures.label = label;
    this.keep();
    this.showLabel();
  }

  /** Set the class as soon as the sensor is read. */
  private record(label: number | null): void {
    if (this.steps.busy) this.wanted = label;
    else if (this.running) this.press(label);
  }

  private showLabel(): void {
    const label = this.gestures?.label ?? null;
    this.buttons.press(label);
    this.showCards();
    this.say(this.nextStep(label));
  }

  private nextStep(label: number | null): string {
    const { classNames, counts } = this.gestures!;
    if (label !== null) return words.teaching(classNames[label]!);
    return counts.some(Boolean) ? words.predicting : words.first;
  }

  private show(what: Heard): void {
    this.answer.show(what.predicted, what.votes, what.set);
    if (this.gestures?.exam) this.exam.ask(this.gestures.classNames[this.gestures.exam.label]!);
    if (this.gestures?.label !== null || what.waiting) this.keep();
    const waiting = what.waiting ? words.waiting(what.waiting) : "";
    const lost = what.lost ? words.lost(what.lost) : "";
    this.learned.textContent = what.learned || lost ? words.heard(what.learned) + waiting + lost : "";
    this.showCards();
  }

  private showCards(): void {
    const { recordings = [], classNames = [], label = null, counts = [] } = this.gestures ?? {};
    this.cards.show(recordings, classNames, label);
    this.exam.button.hidden = counts.filter(Boolean).length < 2;
    this.buttons.count(counts);
    this.classes.count(counts, recordings, label);
    this.judge();
  }

  private judge(): void {
    const { standing, classNames, counts } = this.gestures ?? NOBODY;
    this.unseen.show(standing, classNames, counts.filter(Boolean).length);
  }

  private say(text: string, isError = false): void {
    this.status.textContent = text;
    this.status.classList.toggle("bad", isError);
  }
}

/** Return whether going back from one state to the other would change nothing. */
function isSame(one: Kept, other: Kept): boolean {
  const asJson = ({ source, lesson }: Kept): string => JSON.stringify([source, lesson.classNames, lesson.above]);
  const [a, b] = [asJson(one), asJson(other)];
  return a === b && isAlike(one.lesson, other.lesson);
}
