// The playground: a stream, a board, and the learner that would run there.

import { choice, field, make, panel, table } from "../dom";
import { Engine } from "../learning/engine";
import { learnStream, parametersOf, type Step } from "../learning/run";
import { glanceAt, unseenOf } from "../learning/unseen";
import type { Model } from "../model";
import type { Board, Learner, PageData, Parameters } from "../page_data";
import { StoppedError } from "../streams/reader";
import type { Stream } from "../streams/stream";
import { percent, texts } from "../texts";
import { inWords, TimeLeft } from "../time_left";
import { AccuracyChart } from "./accuracy_chart";
import { boardMemory } from "./board_memory";
import { confusionMatrix } from "./confusion_matrix";
import { OptionFields } from "./option_fields";
import { expectedState, sameBits, simulateCommand } from "./same_bits";
import { StreamChoice, type ChosenStream } from "./stream_choice";
import { takeAway } from "./take_away";
import { headline, shareOf } from "./unseen_panel";

const DEFAULT_BOARD = "rpi_pico2"; // it has room for every learner with its default options
const MANY = 5000; // rows above which a sample is measured first
const SIZE = "bytes"; // the option of a learner that depends on the board's RAM

export class Playground {
  readonly element: HTMLElement;
  private readonly streams: StreamChoice;
  private readonly boards: HTMLSelectElement;
  private readonly learners: HTMLSelectElement;
  private readonly options = new OptionFields();
  private readonly start = make("button", { type: "submit", id: "start" }, texts.playground.start);
  private readonly status = make("p", { role: "status", id: "status" }, texts.playground.ready);
  private readonly unseen = make("p", { role: "status", id: "ahead", class: "figure" });
  private readonly chart = new AccuracyChart();
  private readonly drifts = make("p", { id: "drifts" });
  private readonly newest = make("div", { id: "newest" });
  private readonly confusion = make("div", { id: "confusion" });
  private readonly memory = make("div", { id: "memory" });
  private readonly state = make("div", { id: "state" });
  private readonly result = make("div", { id: "result" });
  private readonly results: HTMLElement;
  private readonly notes = make("ul", { id: "notes", "aria-label": texts.playground.notes, hidden: true });
  private reading = new AbortController();
  private running = false;
  private stopping = false;
  private forgotten = false; // whether another stream was chosen since
  private again = false; // whether Start was pressed before the previous run has stopped
  private glanced = ""; // the result on a sample of the rows
  private judged = 0; // the newest run; results of earlier runs are dropped

  constructor(private readonly data: PageData) {
    this.boards = choice("board", data.boards.map(({ key, name }) => [key, name]));
    this.boards.value = DEFAULT_BOARD;
    this.learners = choice(
      "learner",
      data.learners.map(({ key }) => [key, texts.learners[key] ?? key]),
    );
    const refused = (why: string): void => this.say(why, true);
    const changed = (): void => this.forget();
    this.streams = new StreamChoice(data.streams, changed, refused);
    this.boards.onchange = this.learners.onchange = changed;
    this.options.element.oninput = () => this.outdate();
    this.results = this.makeResults();
    this.element = make(
      "div",
      {},
      make("h3", {}, texts.playground.streams),
      this.makeForm(),
      this.unseen,
      this.status,
      this.notes,
      this.results,
    );
    this.showOptions();
  }

  /** Open the chosen stream. */
  async openStream(): Promise<Stream> {
    return this.streams.now.read(() => undefined, new AbortController().signal);
  }

  private makeForm(): HTMLElement {
    const form = make(
      "form",
      {},
      this.streams.element,
      field(texts.playground.board, this.boards),
      field(texts.playground.learner, this.learners),
      make(
        "details",
        {},
        make("summary", {}, texts.playground.options),
        this.options.element,
      ),
      this.start,
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      if (!this.running) void this.run();
      else if (this.stopping) this.again = true;
      else this.stop();
    };
    return form;
  }

  private makeResults(): HTMLElement {
    return make(
      "div",
      { class: "results", hidden: true },
      panel(texts.accuracy.title, this.chart.element, this.drifts),
      panel(texts.newest.title, this.newest),
      panel(texts.confusion.title, this.confusion),
      panel(texts.memory.title, this.memory),
      panel(texts.state.title, this.state),
      panel(texts.takeAway.title, this.result),
    );
  }

  private get board(): Board {
    return this.data.boards.find(({ key }) => key === this.boards.value)!;
  }

  private get learner(): Learner {
    return this.data.learners.find(({ key }) => key === this.learners.value)!;
  }

  /** Stop the run soon. */
  private stop(): void {
    this.stopping = true;
    this.reading.abort();
    this.start.textContent = texts.playground.start;
  }

  /** Drop the messages and results, as something else is chosen. */
  private forget(): void {
    if (!this.streams) return; // while the playground is made
    this.showOptions();
    this.outdate();
  }

  /** Mark the result as one of an earlier choice. */
  private outdate(): void {
    if (this.running) {
      this.stop();
      this.forgotten = true;
      this.again = false;
    }
    this.forgetUnseen();
    this.results.hidden = true;
    this.state.replaceChildren();
    this.result.replaceChildren();
    this.notes.hidden = true;
    this.say(texts.playground.ready);
  }

  private showOptions(): void {
    if (!this.streams) return; // while the playground is made
    const size = this.streams.sample?.bytes[this.board.key] ?? this.board.bytes;
    this.options.show(this.learner, { [SIZE]: size });
  }

  private async run(): Promise<void> {
    const { learner, board } = this;
    const options = this.options.values();
    this.running = true;
    this.forgetUnseen();
    this.stopping = this.forgotten = false;
    this.reading = new AbortController();
    this.start.textContent = texts.playground.stop;
    this.say(texts.playground.loading);
    try {
      const chosen = this.streams.now;
      const stream = await this.read(chosen);
      if (!this.stopping) await this.learn(chosen, stream, learner, board, options);
    } catch (error) {
      if (error instanceof StoppedError) this.tell(texts.playground.readingStopped);
      else this.tell(error instanceof Error ? error.message : String(error), true);
    }
    this.start.textContent = texts.playground.start;
    this.running = false;
    if (this.again) {
      this.again = false;
      void this.run();
    }
  }

  private async read(chosen: ChosenStream): Promise<Stream> {
    const left = new TimeLeft();
    const stream = await chosen.read((share) => {
      const percent = Math.floor(100 * share);
      this.progress(texts.playground.reading(chosen.name, percent, left.words(share)));
    }, this.reading.signal);
    this.notes.replaceChildren(...stream.notes.map((note) => make("li", {}, note)));
    this.notes.hidden = !stream.notes.length;
    return stream;
  }

  private async learn(
    chosen: ChosenStream,
    stream: Stream,
    learner: Learner,
    board: Board,
    options: Parameters,
  ): Promise<void> {
    const parameters = parametersOf(learner, stream, options);
    const engine = await Engine.start(learner.learner_class, parameters);
    try {
      if (this.forgotten) return; // the result is not for the present choice
      this.begin(engine, board, learner, stream);
      if (stream.labels.length > MANY) void this.glance(stream, learner, parameters);
      const { status } = await this.follow(engine, stream);
      const { featureNames, classNames, units, name } = stream;
      const { samples, accuracy, state_crc32 } = status;
      const saved = await engine.saved();
      if (this.forgotten) return;
      const names = { featureNames, classNames, units, stream: name };
      const model = { ...names, learner, parameters, samples, accuracy, crc32: state_crc32, saved };
      this.end(chosen, model, options, board, stream.labels.length);
      if (!this.stopping) void this.judge(stream, learner, parameters);
    } finally {
      engine.stop();
    }
  }

  private begin(engine: Engine, board: Board, learner: Learner, stream: Stream): void {
    const features = stream.featureNames.length;
    this.results.hidden = false;
    this.chart.clear(stream.labels.length);
    this.drifts.textContent = "";
    this.state.replaceChildren(make("p", {}, texts.state.waits));
    this.result.replaceChildren(make("p", {}, texts.takeAway.waits));
    this.memory.replaceChildren(boardMemory(board, learner.key, engine.buffers, features));
  }

  /** Learn until the end or a stop; return the last step. */
  private async follow(engine: Engine, stream: Stream): Promise<Step> {
    const drifts: number[] = [];
    let last!: Step; // a stream has samples
    for await (const step of learnStream(engine, stream)) {
      last = step;
      drifts.push(...step.drifts);
      this.show(step, stream, drifts);
      if (this.stopping) break;
    }
    this.chart.draw();
    return last;
  }

  private end(
    { sample, labelColumn, drop }: ChosenStream,
    model: Model,
    options: Parameters,
    board: Board,
    all: number,
  ): void {
    const failed = (why: string): void => this.say(why, true);
    this.result.replaceChildren(takeAway(model, board, this.data, failed));
    if (model.samples < all) {
      this.tell(texts.playground.stopped(model.samples));
      return;
    }
    this.tell(texts.playground.done(all, percent(model.accuracy)));
    const command = simulateCommand(model.stream, labelColumn, drop, model.learner, options);
    const expected = expectedState(sample?.expected ?? [], model.learner.key, options);
    this.state.replaceChildren(sameBits(model.crc32, expected, command));
  }

  private show(step: Step, stream: Stream, drifts: readonly number[]): void {
    const { status } = step;
    this.chart.add(status, step.recent, step.drifts);
    const accuracy = percent(status.accuracy);
    const all = stream.labels.length;
    const left = texts.playground.left(inWords((all - status.samples) / step.rate));
    this.progress(texts.playground.running(status.samples, all, accuracy, step.rate) + left);
    this.drifts.textContent = drifts.length
      ? `${texts.accuracy.drifts(drifts.length)}, ${texts.accuracy.first(drifts[0]!)}`
      : texts.accuracy.none;
    this.newest.replaceChildren(newestSample(step, stream.classNames));
    this.confusion.replaceChildren(confusionMatrix(stream.classNames, status.confusion));
  }

  private forgetUnseen(): void {
    this.judged++;
    this.unseen.textContent = this.glanced = "";
  }

  /** Estimate the accuracy on unseen rows, while the whole stream is learned. */
  private async glance(stream: Stream, learner: Learner, parameters: Parameters): Promise<void> {
    const words = texts.teach.unseen;
    const run = ++this.judged;
    const goesOn = (): boolean => run === this.judged;
    this.unseen.textContent = words.sampling;
    let text = "";
    try {
      const engine = await Engine.start(learner.learner_class, parameters);
      const glance = await glanceAt(engine, stream, goesOn).finally(() => engine.stop());
      if (glance?.figures.samples) text = words.sampled(shareOf(glance.figures), glance.rows, stream.labels.length);
    } catch (error) {
      text = words.failed(error instanceof Error ? error.message : String(error));
    }
    if (goesOn()) this.unseen.textContent = this.glanced = text;
  }

  /** Measure the accuracy on unseen stretches. Another run may begin meanwhile. */
  private async judge(stream: Stream, learner: Learner, parameters: Parameters): Promise<void> {
    const words = texts.teach.unseen;
    const run = ++this.judged;
    const goesOn = (): boolean => run === this.judged;
    this.unseen.textContent = this.glanced || words.stretches;
    let text: string;
    try {
      const engine = await Engine.start(learner.learner_class, parameters);
      const [all, now] = (await unseenOf(engine, stream, goesOn).finally(() => engine.stop())) ?? [];
      text = all?.samples ? headline(all) : words.none;
      if (now?.samples) text += words.now(shareOf(now));
    } catch (error) {
      text = words.failed(error instanceof Error ? error.message : String(error));
    }
    if (goesOn()) this.unseen.textContent = text;
  }

  /** Show a text that changes all the time, and keep it from screen readers. */
  private progress(text: string): void {
    this.tell(text);
    this.status.setAttribute("aria-live", "off");
  }

  /** Show the state of the run, unless another stream was chosen meanwhile. */
  private tell(text: string, isError = false): void {
    if (!this.forgotten) this.say(text, isError);
  }

  private say(text: string, isError = false): void {
    this.status.setAttribute("aria-live", "polite");
    this.status.textContent = text;
    this.status.classList.toggle("bad", isError);
  }
}

function newestSample(step: Step, classes: readonly string[]): HTMLElement {
  const { status } = step;
  const entries = Object.entries(status.progress).sort(); // a dict of MicroPython has no order
  const progress = entries.map(([name, value]) => [name.replaceAll("_", " "), String(value)]);
  return make(
    "div",
    { class: "newest" },
    table(
      [],
      [
        [texts.newest.predicted, status.confidence ? classes[step.predicted]! : texts.newest.nothing],
        [texts.newest.truth, classes[step.label]!],
        ...(status.confidence ? [[texts.newest.confidence, texts.newest.of(status.confidence)]] : []),
      ],
    ),
    ...(progress.length ? [make("h4", {}, texts.newest.progress), table([], progress)] : []),
  );
}
