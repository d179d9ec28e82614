// Watch a board: how well it learns, its own sensor's samples with label buttons, and a stream.

import { canConnect, chosenDevice, Port } from "../board/port";
import { make, panel } from "../dom";
import { BoardLink, type Configuration, type Observation } from "../link/board_link";
import { inWords } from "../link/in_words";
import { Streaming } from "../link/streaming";
import { MISSING } from "../streams/units";
import type { Stream } from "../streams/stream";
import { hex32, percent, texts } from "../texts";
import { Anomalies } from "./anomalies";
import { classTable, numberTable, taughtIn } from "./board_status";
import { confusionMatrix } from "./confusion_matrix";
import { Naming } from "./naming";
import { Queries } from "./queries";
import type { LossDialog } from "./loss_dialog";
import { save } from "./take_away";
import { Trace } from "./trace";
import { askBeforeLeaving } from "./unsaved";

const BAUD = 115_200;
const EVERY = 1000; // milliseconds

export class Watch {
  readonly element: HTMLElement;
  private readonly connect = make("button", { type: "button", id: "watch" }, texts.watch.connect);
  private readonly status = make("p", { role: "status", id: "watch-status" });
  private readonly numbers = make("div", { id: "watch-numbers" });
  private readonly confusion = make("div", { id: "watch-confusion" });
  private readonly newest = make("p", { id: "watch-newest" }, texts.watch.noSensor);
  private readonly trace = new Trace(true);
  private readonly labels = make("div", { class: "labels", role: "group" });
  private readonly send = make("button", { type: "button", id: "watch-stream" }, texts.watch.stream);
  private readonly sent = make("p", { id: "watch-sent" });
  private readonly recording = make("button", { type: "button", id: "watch-csv" }, texts.watch.csv);
  private readonly ofClasses = panel(texts.confusion.title, this.confusion);
  private readonly queries = new Queries((error) => this.say(inWords(error), true));
  private readonly anomalies = new Anomalies((error) => this.say(inWords(error), true));
  private readonly naming = new Naming(
    (shown) => this.showLabels(shown),
    (error) => this.say(inWords(error), true),
  );
  private readonly live: HTMLElement;
  private port: Port | null = null;
  private link: BoardLink | null = null;
  private label: number | null = null;
  private rows: (readonly [Int32Array, number | null])[] = [];
  private configuration: Configuration | null = null; // config.json of the present board, or the last one
  private unsaved = false; // whether there are labelled rows that no file has

  /** `open` reads the stream that the playground has chosen; `loss` asks before rows are lost. */
  constructor(
    private readonly open: () => Promise<Stream>,
    private readonly loss: LossDialog,
  ) {
    askBeforeLeaving(() => this.unsaved);
    this.connect.disabled = !canConnect();
    this.connect.onclick = () => void (this.link ? this.end() : this.begin());
    this.send.onclick = () => void this.stream();
    this.recording.onclick = () => this.saveRecording();
    this.labels.setAttribute("aria-label", texts.watch.labels);
    this.live = make(
      "div",
      { class: "results", hidden: true },
      panel(texts.watch.numbers, this.numbers, this.send, this.sent),
      this.ofClasses,
      this.queries.element,
      this.anomalies.element,
      this.naming.element,
      panel(
        texts.watch.sensor,
        make("div", { class: "view" }, this.trace.element),
        this.trace.legend,
        this.newest,
        this.labels,
        this.recording,
      ),
    );
    this.live.addEventListener("click", () => this.isWrong && this.say(""), { capture: true });
    this.element = make(
      "section",
      { id: "watch-part", "aria-labelledby": "watch-title" },
      make("h3", { id: "watch-title" }, texts.watch.title),
      make("p", {}, canConnect() ? texts.watch.lead : texts.board.noSerial),
      this.connect,
      this.status,
      this.live,
    );
  }

  private async begin(): Promise<void> {
    if (this.unsaved && !(await this.loss.ask())) return;
    this.connect.disabled = true;
    this.say(texts.board.connecting);
    try {
      this.port = await Port.open(await chosenDevice(), BAUD);
      this.link = await BoardLink.open(this.port);
      this.link.observed = (observation) => this.observe(observation);
      this.link.interrupted = (why) =>
        this.say(why === null ? texts.watch.back : texts.watch.waits(why), why !== null);
      this.configuration = this.link.configuration;
      this.rows = [];
      this.unsaved = false;
      this.sent.replaceChildren();
      this.naming.begin(this.link);
      this.queries.begin(this.link);
      this.anomalies.begin(this.link);
      this.label = null;
      this.showLabels([...this.link.configuration.class_names.entries()]);
      this.ofClasses.hidden = this.send.hidden = this.link.target !== null;
      this.live.hidden = false;
      this.trace.clear(this.configuration.feature_names, "");
      this.connect.textContent = texts.watch.end;
      void this.poll(this.link);
    } catch (error) {
      await this.fail(error);
    }
    this.connect.disabled = false;
  }

  private async poll(link: BoardLink): Promise<void> {
    try {
      while (this.link === link) {
        await this.show(link).catch((error: unknown) => link.again(error));
        await new Promise((resolve) => setTimeout(resolve, EVERY));
      }
    } catch (error) {
      if (this.link === link) await this.fail(error);
    }
  }

  private async show(link: BoardLink): Promise<void> {
    const status = await link.status();
    const { target, configuration } = link;
    if (target !== null) {
      const errors = await link.errors();
      this.numbers.replaceChildren(numberTable(status, errors, configuration, target));
      this.report(texts.watch.forecast(status.samples));
      return;
    }
    const counts = await link.confusion();
    const { class_names: names } = configuration;
    const taught = counts.length ? taughtIn(counts) : Math.min(status.samples, 2);
    this.numbers.replaceChildren(classTable(status, taught));
    await this.naming.show();
    await this.anomalies.show();
    await this.queries.show((label) => this.called(label));
    const shown = this.naming.matrix(counts) ?? [names, counts];
    this.confusion.replaceChildren(...(taught ? [confusionMatrix(...shown)] : []));
    this.report(texts.watch.learned(status.samples, taught > 1 ? percent(status.accuracy) : ""));
    this.status.setAttribute("aria-live", "off"); // every second, too often for a screen reader
  }

  /** Show the progress, unless an error is shown, which stays until the next click. */
  private report(text: string): void {
    if (!this.isWrong) this.say(text);
  }

  /** Whether an error is shown. */
  private get isWrong(): boolean {
    return this.status.classList.contains("bad");
  }

  private observe(observation: Observation): void {
    const values = Array.from(observation.values, (value) => (value === MISSING ? NaN : value));
    this.trace.add(values, (observation.label ?? this.label) !== null);
    if (this.link!.target !== null) {
      this.rows.push([observation.values, null]);
      this.newest.textContent = texts.watch.recorded(this.rows.length);
      return;
    }
    const label = observation.label ?? this.label;
    const { predicted } = observation;
    const { confidence, id } = observation;
    this.newest.textContent = confidence
      ? texts.watch.newest(this.called(predicted), confidence, this.rows.length)
      : texts.watch.nothingYet(this.rows.length);
    if (label === null) return;
    this.rows.push([observation.values, label]);
    if (observation.label !== null) return;
    this.unsaved = true;
    if (!id) return; // 0: the sample waits for no label
    this.link!.label(id, label).catch((error: unknown) => this.say(inWords(error), true));
  }

  /** Return the name of a class. */
  private called(label: number): string {
    return this.naming.called(label) ?? this.link!.configuration.class_names[label] ?? String(label);
  }

  /** Show buttons for these classes; a pressed button stays pressed while its class exists. */
  private showLabels(classes: readonly (readonly [number, string])[]): void {
    if (!classes.some(([label]) => label === this.label)) this.label = null;
    this.queries.offer(classes);
    const none = [null, texts.teach.predict] as const;
    const labels = classes.length ? [...classes, none] : []; // a number's target needs no button
    const made = labels.map(([label, text]) => {
      const button = make("button", { type: "button", "aria-pressed": String(label === this.label) }, text);
      button.onclick = () => {
        this.label = label;
        for (const each of made) each.setAttribute("aria-pressed", String(each === button));
      };
      return button;
    });
    this.labels.replaceChildren(...made);
  }

  /** Let the board learn the stream chosen above. */
  private async stream(): Promise<void> {
    const { link } = this;
    if (!link) return;
    this.send.disabled = true;
    try {
      const stream = await this.open();
      const all = stream.labels.length;
      const begin = performance.now();
      const streaming = new Streaming(link, stream, (done) => {
        this.sent.textContent = texts.watch.confirmed(done, all);
      });
      const crc32 = await streaming.run();
      const seconds = (performance.now() - begin) / 1000;
      const state = make("code", { id: "watch-crc32" }, hex32(crc32));
      this.sent.replaceChildren(`${texts.watch.sent(all, seconds)} ${texts.watch.state} `, state);
    } catch (error) {
      if (this.link === link) this.say(inWords(error), true);
    }
    this.send.disabled = false;
  }

  private saveRecording(): void {
    const { feature_names: features, class_names: classes } = this.configuration!;
    this.unsaved = false;
    const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const known = (value: number): string => (value === MISSING ? "" : String(value));
    const lines = this.rows.map(([values, label]) =>
      [...Array.from(values, known), ...(label === null ? [] : [cell(this.naming.called(label) ?? classes[label]!)])].join(","),
    );
    const head = [...features, ...(classes.length ? ["class"] : [])].map(cell).join(",");
    save("recording.csv", new Blob([[head, ...lines, ""].join("\n")], { type: "text/csv" }));
  }

  private async fail(error: unknown): Promise<void> {
    await this.end();
    this.say(inWords(error), true);
  }

  private async end(): Promise<void> {
    this.connect.disabled = true; // until the port is free
    this.link?.close();
    this.link = null;
    await this.port?.close();
    this.port = null;
    this.connect.textContent = texts.watch.connect;
    this.connect.disabled = false;
    this.say("");
  }

  private say(text: string, isError = false): void {
    this.status.setAttribute("aria-live", "polite");
    this.status.textContent = text;
    this.status.classList.toggle("bad", isError);
  }
}
