// Learning from a sensor, sample by sample, as a board with that sensor and label buttons learns.

import type { Model } from "../model";
import type { Learner, Parameters } from "../page_data";
import { readingBytes, type Sensor } from "../sensors";
import { Engine } from "./engine";
import { Exam, type Question } from "./exam";
import type { Status } from "./messages";
import { isAlike, type Above, type Lesson } from "./lesson";
import { csvOf, readingsCsv, valuesOf, type Recording } from "./recording";
import { Unseen, type Standing } from "./unseen";
import { WaitingReadings, type Aim } from "./waiting_readings";
import { extractionOf, featureNames, hopOf, lagsOf, turnsOf, windowOf, type Shape } from "./windows";

const GUARANTEE = 90; // coverage of the prediction sets, in percent
const BLOCK = 8; // samples learned at once when many wait

/** The state after a step. */
export interface Heard {
  readonly predicted: number | null; // null before the first label
  readonly votes: readonly number[]; // 0..255 by class
  readonly set: readonly number[]; // prediction set, with the true class in nine of ten answers
  readonly learned: number; // samples so far
  readonly waiting: number; // labelled samples that are still to be learned
  readonly lost: number; // missing readings
}

const NOTHING = { predicted: null, votes: [], set: [] };

/** The listener to each step, each reading, the exam's end, the standing, and errors. */
export interface Listener {
  heard(what: Heard): void;
  seen(values: readonly number[], label: number | null): void;
  examined(exam: Exam): void;
  judged(): void;
  failed(error: unknown): void;
}

interface Sample {
  readonly row: Int32Array;
  readonly into: Recording;
}

export class Gestures {
  recordings: Recording[] = [];
  readonly featureNames: readonly string[];
  exam: Exam | null = null;
  private above: Above = [];
  private sensor: Sensor | null = null;
  private current: Recording | null = null; // the recording for new readings
  private played: Uint8Array[] = []; // readings of a recording that is played in place of the sensor
  private readonly readings: WaitingReadings;
  private readonly unseen: Unseen;
  private samples: Sample[] = []; // in the order of learning
  private learned = 0; // how many of the samples are learned
  private stale = false; // whether the recordings differ from the learned ones
  private questions: { readonly row: Int32Array; readonly question: Question }[] = [];
  private newest: Int32Array | null = null; // a sample without a label, to be predicted
  private status: Status | null = null;
  private lostBefore = 0; // missing readings of earlier sensors
  private timer = 0;
  private working: Promise<void> | null = null; // the work in progress

  private constructor(
    private readonly engine: Engine,
    readonly shape: Shape,
    private readonly learner: Learner,
    private options: Parameters,
    public classNames: readonly string[],
    private readonly listener: Listener,
  ) {
    this.featureNames = featureNames(shape);
    this.readings = new WaitingReadings(engine, this.featureNames.length, (row, aim) => this.put(row, aim));
    const fresh = (): Promise<Engine> => Engine.start(learner.learner_class, this.parameters);
    this.unseen = new Unseen(() => this.classNames.length, fresh, () => listener.judged());
  }

  /** Start a fresh learner for samples of such readings. */
  static async start(
    learner: Learner,
    options: Parameters,
    shape: Shape,
    classNames: readonly string[],
    listener: Listener,
  ): Promise<Gestures> {
    const { axes, rate } = shape;
    const engine = await Engine.start(learner.learner_class, parametersOf(shape, classNames, options), GUARANTEE);
    const [window, hop, turns, lags] = [windowOf(rate), hopOf(rate), turnsOf(axes), lagsOf(axes, rate)];
    await engine.window({ axes: axes.length, window, hop, turns, lags });
    return new Gestures(engine, shape, learner, options, classNames, listener);
  }

  private get parameters(): Parameters {
    return parametersOf(this.shape, this.classNames, this.options);
  }

  /** Read a sensor from now on; its samples are only predicted. */
  run(sensor: Sensor): void {
    this.lostBefore = this.lost;
    sensor.read(); // drop readings from before the learner was ready
    this.sensor = sensor;
    this.label = null;
    this.tick();
  }

  /** The class of the current readings; null: their samples are only predicted. */
  get label(): number | null {
    return this.current?.label ?? null;
  }

  set label(label: number | null) {
    if (!this.played.length) this.takeDue(); // these readings belong to the former label, as a slow computer reads late
    this.played = [];
    this.exam = null;
    this.current = label === null ? null : { label, readings: [], rows: [] };
    if (this.current) this.recordings.push(this.current);
    else this.work(); // in case everything is learned already, and no reading follows
  }

  /** Start an exam, which asks for each class once more. */
  examine(): void {
    this.label = null;
    this.exam = new Exam(this.classNames.length);
  }

  /** Play a recording in place of the sensor, once; the listener gets the predictions. */
  play(recording: Recording): void {
    this.label = null;
    this.played = [...recording.readings];
    this.tick();
  }

  /** The number of missing readings. */
  get lost(): number {
    return this.lostBefore + (this.sensor?.lost ?? 0);
  }

  /** The lesson so far. */
  get lesson(): Lesson {
    const { classNames, above } = this;
    return { classNames, above, recordings: this.recordings.map((each) => [each, each.label] as const) };
  }

  /** Replace the lesson, with a learner of `bytes`; the current recording goes on if the lesson has it. */
  become(lesson: Lesson, bytes = this.bytes): void {
    const isLearned = bytes === this.bytes && isAlike(lesson, this.lesson);
    for (const [recording, label] of lesson.recordings) recording.label = label;
    this.recordings = lesson.recordings.map(([recording]) => recording);
    if (this.current && !this.recordings.includes(this.current)) this.current = null;
    this.classNames = lesson.classNames;
    this.above = lesson.above;
    this.options = { ...this.options, bytes };
    this.exam = null;
    this.questions = [];
    if (isLearned) return;
    this.unseen.forget();
    this.stale = true;
    this.work();
  }

  /** The bytes of the learner. */
  get bytes(): number {
    return this.options["bytes"] as number;
  }

  /** The number of samples of each class. */
  get counts(): number[] {
    const counts = this.classNames.map(() => 0);
    for (const { label, rows } of this.recordings) counts[label]! += rows.length;
    return counts;
  }

  /** The accuracy on unseen recordings. */
  get standing(): Standing {
    return this.unseen.standing(this.recordings);
  }

  /** Stop reading, and learn the waiting samples. */
  async finish(): Promise<void> {
    this.label = null;
    await this.stop();
    this.work();
    await this.working;
  }

  /** Wait until all waiting samples are learned. */
  async settled(): Promise<void> {
    await this.working;
  }

  /** Stop, and forget everything. */
  end(): void {
    void this.stop();
    this.unseen.forget();
    this.engine.stop();
  }

  csv(): string {
    return csvOf(this.recordings, this.featureNames, this.classNames);
  }

  readingsCsv(): string {
    return readingsCsv(this.recordings, this.shape.axes, this.classNames);
  }

  /** Return the current model; null before there is one. */
  async model(): Promise<Model | null> {
    if (!this.status) return null;
    const { samples, accuracy, state_crc32 } = this.status;
    const { learner, parameters, featureNames, classNames } = this;
    const units = featureNames.map(() => ({ offset: 0, digits: 0 }));
    const saved = await this.engine.saved();
    const model = { learner, parameters, featureNames, classNames, units, saved };
    const extraction = extractionOf(this.shape);
    return { ...model, stream: "gestures.csv", samples, accuracy, crc32: state_crc32, extraction };
  }

  private tick(): void {
    if (this.timer) return;
    this.timer = window.setInterval(() => this.read(), 1000 / this.shape.rate);
  }

  private async stop(): Promise<void> {
    const { sensor } = this;
    this.lostBefore = this.lost;
    clearInterval(this.timer);
    this.timer = 0;
    this.played = [];
    this.sensor = null;
    await sensor?.stop();
  }

  private read(): void {
    const played = this.played.shift();
    if (!played) this.takeDue();
    else {
      this.sensor?.read();
      this.take(played);
    }
    if (!played && !this.sensor) void this.stop();
    this.work();
  }

  /** Take the sensor's readings up to now. */
  private takeDue(): void {
    for (const reading of this.sensor?.read() ?? []) this.take(reading && readingBytes(reading));
  }

  private take(bytes: Uint8Array | null): void {
    if (!bytes) {
      this.readings.leaveGap();
      return;
    }
    const question = this.exam && !this.exam.isOver ? this.exam.next() : null;
    this.current?.readings.push(bytes);
    this.listener.seen(valuesOf(bytes), this.label);
    this.readings.take(bytes, { into: this.current, question });
  }

  private work(): void {
    this.working ??= this.doWhatWaits()
      .catch((error: unknown) => this.listener.failed(error))
      .finally(() => (this.working = null));
  }

  /** Do the waiting work: learn before predicting, and outside an exam predict only the newest sample. */
  private async doWhatWaits(): Promise<void> {
    for (;;) {
      await this.readings.makeSamples();
      if (this.stale) await this.begin();
      else if (this.learned < this.samples.length) await this.learn();
      else if (this.questions.length) await this.answer();
      else if (this.exam?.isOver) this.endExam(this.exam);
      else if (this.newest) await this.predict(this.newest);
      else if (this.readings.areMade) break;
    }
    if (!this.current) this.unseen.check(this.recordings);
  }

  private put(row: Int32Array, { into, question }: Aim): void {
    this.newest = into || question ? null : row;
    if (question) this.questions.push({ row, question });
    if (!into) return;
    into.rows.push(row);
    if (!this.recordings.includes(into)) return; // the recording was deleted meanwhile
    this.unseen.forget();
    this.samples.push({ row, into });
  }

  /** Start learning again, as the recordings have changed. */
  private async begin(): Promise<void> {
    this.stale = false;
    this.samples = this.recordings.flatMap((into) => into.rows.map((row) => ({ row, into })));
    this.learned = 0;
    this.status = null;
    await this.engine.anew(this.parameters);
    this.tell();
  }

  private async learn(): Promise<void> {
    const waiting = this.samples.length - this.learned;
    const block = this.samples.slice(this.learned, this.learned + Math.min(waiting, BLOCK));
    const rows = new Int32Array(block.flatMap(({ row }) => [...row]));
    const status = await this.engine.learn(rows, Uint8Array.from(block, ({ into }) => into.label));
    if (this.stale) return; // a recording was changed meanwhile: all is learned again
    this.status = status;
    this.learned += block.length;
    this.tell({ ...status, predicted: status.predictions.at(-1)! });
  }

  private async answer(): Promise<void> {
    const { row, question } = this.questions.shift()!;
    const { exam } = this;
    if (!this.status || !exam) return;
    const answer = await this.engine.predict(row);
    exam.answer(question, answer.predicted);
    this.tell(answer);
  }

  private endExam(exam: Exam): void {
    this.exam = null;
    this.listener.examined(exam);
  }

  private async predict(row: Int32Array): Promise<void> {
    this.newest = null;
    if (this.status) this.tell(await this.engine.predict(row));
    else this.tell();
  }

  private tell(answer: Pick<Heard, "predicted" | "votes" | "set"> = NOTHING): void {
    const { predicted, votes, set } = answer;
    const waiting = this.samples.length - this.learned;
    this.listener.heard({ predicted, votes, set, learned: this.learned, waiting, lost: this.lost });
  }
}

function parametersOf(shape: Shape, classNames: readonly string[], options: Parameters): Parameters {
  return { features: featureNames(shape).length, classes: classNames.length, ...options };
}

