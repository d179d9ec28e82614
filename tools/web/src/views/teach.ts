// Teach it a gesture: this device or a board is the sensor, buttons are the labels, and it learns at
// once.

import { field, make } from "../dom";
import { Gestures, type Heard } from "../learning/gestures";
import { NoReadingsError } from "../link/board_sensor";
import type { PageData } from "../page_data";
import type { Recording } from "../learning/recording";
import { readProject } from "../project";
import type { Sensor } from "../sensors";
import { percent, texts } from "../texts";
import { Answer } from "./answer";
import { ExamPanel } from "./exam_panel";
import { namesIn, split } from "./gesture_names";
import type { HandOver } from "./hand_over";
import { LabelButtons } from "./label_buttons";
import { OpenProject } from "./open_project";
import { phonePart } from "./phone";
import type { LossQuestion } from "./question";
import { ReadingProgram } from "./reading_program";
import { RecordingCards } from "./recording_cards";
import { SourceChoice } from "./source_choice";
import { Steps } from "./steps";
import { Trace } from "./trace";
import { askBeforeLeaving } from "./unsaved";

const BYTES = 16384; // of the learner: quick in a phone's browser, and at home on any board
const words = texts.teach;

export class Teach {
  readonly element: HTMLElement;
  private readonly names = make("input", { id: "names", value: words.defaultNames });
  private readonly start = make("button", { type: "button", id: "learn-me" }, words.start);
  private readonly over = make("button", { type: "button", id: "start-over", class: "plain" }, words.over);
  private readonly opens: OpenProject;
  private readonly status = make("p", { role: "status", id: "learn-me-status" }, words.first);
  private readonly told = make("p", { id: "learned", class: "told" });
  private readonly trace = new Trace();
  private readonly hint = make("span", { class: "hint" });
  private readonly pad = make("div", { class: "pad" }, this.trace.element, this.trace.legend, this.hint);
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
  private readonly exam: ExamPanel;
  private readonly cards: RecordingCards;
  private readonly hand: HandOver;
  private readonly readings: ReadingProgram;
  private gestures: Gestures | null = null;
  private bytes = BYTES;
  private running = false;
  private readonly steps = new Steps(() => this.enable());
  private wanted: number | null = null; // the label of what comes first
  private changes = 0; // of what was taught: what was handed over before is no longer it

  /** `hand` makes what hands over what was taught, and is told whom to tell what went wrong; `question` asks before it is lost. */
  constructor(
    private readonly data: PageData,
    hand: (failed: (error: unknown) => void) => HandOver,
    private readonly question: LossQuestion,
  ) {
    this.hand = hand((error) => this.complain(error));
    this.readings = new ReadingProgram(data, () => this.gestures?.classNames ?? namesIn(this.names.value));
    this.opens = new OpenProject(
      (file) => void this.steps.doNext(() => this.open(file), (error) => this.complain(error)),
    );
    this.exam = new ExamPanel(() => void this.examine());
    this.cards = new RecordingCards({
      play: (recording) => this.play(recording),
      remove: (recording) => void this.change((gestures) => gestures.remove(recording)),
      move: (recording, label) => void this.change((gestures) => gestures.move(recording, label)),
    });
    this.names.oninput = () => this.showButtons();
    this.start.onclick = () => void (this.running ? this.alone(() => this.end()) : this.begin());
    this.over.onclick = () => void this.alone(() => this.startOverIfAllowed());
    askBeforeLeaving(() => this.unsaved);
    this.element = this.made();
    this.startOver();
  }

  private made(): HTMLElement {
    const { button: opens, file } = this.opens;
    return make(
      "div",
      {},
      make(
        "div",
        { class: "stage" },
        make("div", { class: "hand" }, this.pad, this.buttons.element),
        make("div", { class: "panel" }, make("h3", {}, words.hears), this.answer.element, this.told),
      ),
      this.status,
      make("div", { class: "labels" }, this.start, this.exam.button, opens, this.over, file),
      this.exam.element,
      this.readings.element,
      make("div", { class: "settings" }, field(words.source, this.source.select), field(words.names, this.names)),
      ...phonePart(),
      this.cards.element,
      this.hand.kept,
    );
  }

  /** Whether something was taught that no file has. */
  private get unsaved(): boolean {
    return !this.hand.saved && Boolean(this.gestures?.counts.some(Boolean));
  }

  /** Whether what was taught may be forgotten: it is asked where no file has it. */
  private async mayForget(): Promise<boolean> {
    return !this.unsaved || this.question.ask();
  }

  private alone(step: () => Promise<void>): Promise<void> {
    return this.steps.do(step, (error) => this.fail(error));
  }

  /** What can be pressed and chosen now. */
  private enable(): void {
    const { busy } = this.steps;
    for (const each of [this.start, this.over, this.opens.button, this.exam.button]) each.disabled = busy;
    this.source.select.disabled = this.names.disabled = busy || this.gestures !== null;
  }

  private async startOverIfAllowed(): Promise<void> {
    if (await this.mayForget()) this.startOver();
  }

  /** Forget all that was taught. */
  private startOver(): void {
    this.gestures?.end();
    this.gestures = null;
    this.bytes = BYTES;
    this.enable();
    this.over.hidden = true;
    this.readings.offer(false);
    this.told.textContent = "";
    this.stand(false);
    this.changed();
    this.showSensor();
    this.showButtons();
    this.say(words.first);
  }

  /** Read the sensor; `label` is that of what comes first. */
  private begin(label: number | null = null): Promise<void> {
    this.wanted = label;
    return this.alone(async () => {
      const classNames = this.gestures?.classNames ?? namesIn(this.names.value);
      this.say(words.loading);
      const wanted = this.gestures?.shape ?? null;
      const sensor = await this.source.open(wanted); // first: browsers ask while one presses
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

  /** What was taught so far goes on; or a fresh learner. */
  private async learner(classNames: readonly string[]): Promise<Gestures> {
    if (this.gestures) return this.gestures;
    const options = { bytes: this.bytes, seed: 0 };
    this.gestures = await Gestures.start(this.data.learners[0]!, options, this.source.shape, classNames, {
      heard: (what) => this.show(what),
      seen: (values, label) => this.trace.add(values, label !== null),
      examined: (exam) => this.exam.end(exam, classNames),
      failed: (error) => this.fail(error),
    });
    this.over.hidden = false;
    this.enable();
    this.showButtons();
    return this.gestures;
  }

  /** Read no more, learn what waits, and hand it over. */
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

  private async change(act: (gestures: Gestures) => void): Promise<void> {
    if (!this.gestures) return;
    this.changed();
    act(this.gestures);
    this.showCards();
    if (!this.running) await this.handOver();
    else if (!this.steps.busy) this.showLabel(); // that recording may be the one that grows
  }

  private play(recording: Recording): void {
    if (this.running) this.press(null);
    this.gestures?.play(recording);
  }

  /** What was said of what was taught is no longer about it. */
  private changed(): void {
    this.changes++;
    this.hand.clear();
    this.exam.clear();
    this.answer.show(null, [], []);
    this.showCards();
  }

  private async open(file: File): Promise<void> {
    const project = await readProject(file, this.data.sensors);
    if (!(await this.mayForget())) return;
    this.startOver();
    this.source.choose(project.source, project.shape);
    this.names.value = project.classNames.join(", ");
    this.bytes = project.bytes;
    this.say(words.loading);
    const gestures = await this.learner(project.classNames);
    this.stand(false);
    this.showSensor();
    gestures.add(project.recordings);
    this.hand.saved = true;
    await this.handOver();
  }

  private async examine(): Promise<void> {
    if (!this.running) await this.begin();
    if (!this.running || !this.gestures) return;
    this.press(null);
    this.gestures.examine();
  }

  /** The line to the board is lost, for the reason; null: it is back. */
  private interrupted(why: string | null): void {
    if (!this.running) return;
    if (why === null) this.say(`${words.cable.back} ${this.nextStep(this.gestures?.label ?? null)}`);
    else this.say(words.cable.waits(why), true);
  }

  /** The board is lost for good; what was taught is kept. */
  private async lost(why: string): Promise<void> {
    await this.steps.doNext(() => this.end(), (error) => this.fail(error));
    this.say(words.cable.lost(why), true);
  }

  /** It cannot go on as it was. */
  private fail(error: unknown): void {
    if (this.running) void this.gestures?.finish();
    if (this.gestures && !this.gestures.recordings.length) this.startOver();
    this.readings.offer(error instanceof NoReadingsError);
    this.stand(false);
    this.complain(error);
  }

  /** Something could not be done; all else goes on. */
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
    const names = this.gestures?.classNames ?? split(this.names.value);
    this.buttons.offer(names);
    this.answer.begin(names);
    this.showCards();
  }

  /** From now on it is that class; null: it is only recognised. */
  private press(label: number | null): void {
    if (!this.gestures) return;
    if (label !== null) this.changed();
    else if (this.gestures.exam) this.exam.clear();
    this.gestures.label = label;
    this.showLabel();
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
    const waiting = what.waiting ? words.waiting(what.waiting) : "";
    const accuracy = what.accuracy === null ? "" : percent(what.accuracy);
    this.told.textContent = what.learned ? words.heard(what.learned, accuracy) + waiting : "";
    this.showCards();
  }

  private showCards(): void {
    const { recordings = [], classNames = [], label = null, counts = [] } = this.gestures ?? {};
    this.cards.show(recordings, classNames, label);
    this.exam.button.hidden = !counts.some(Boolean);
    this.buttons.count(counts);
  }

  private say(text: string, isError = false): void {
    this.status.textContent = text;
    this.status.classList.toggle("bad", isError);
  }
}
