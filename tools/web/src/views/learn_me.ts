// Learn me: this device's motion or pointer is the sensor, and buttons are the labels.

import { choice, field, make, panel } from "../dom";
import { Gestures, type Heard } from "../learning/gestures";
import { modelFile, type Model } from "../model";
import type { PageData } from "../page_data";
import { motionSensor, pointerSensor } from "../sensors";
import { hex32, percent, texts } from "../texts";
import { quoted } from "./same_bits";
import { save } from "./take_away";

const BYTES = 16384; // of the learner: quick in a phone's browser, and at home on any board
const MOST_CLASSES = 5;
const CSV = "gestures.csv";

export class LearnMe {
  readonly element: HTMLElement;
  private readonly source = choice("source", [
    ["pointer", texts.learnMe.pointer],
    ["motion", texts.learnMe.motion],
  ]);
  private readonly names = make("input", { id: "names", value: texts.learnMe.defaultNames });
  private readonly start = make("button", { type: "submit", id: "learn-me" }, texts.learnMe.start);
  private readonly status = make("p", { role: "status", id: "learn-me-status" });
  private readonly pad = make("div", { class: "pad" });
  private readonly buttons = make("div", { class: "labels", role: "group" });
  private readonly said = make("output", { class: "said", id: "said" });
  private readonly take = make("div", { id: "gestures-take" });
  private readonly live: HTMLElement;
  private gestures: Gestures | null = null;
  private classNames: readonly string[] = [];

  constructor(private readonly data: PageData) {
    const form = make(
      "form",
      {},
      field(texts.learnMe.source, this.source),
      field(texts.learnMe.names, this.names),
      this.start,
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      void (this.start.textContent === texts.learnMe.start ? this.begin() : this.end());
    };
    this.pad.textContent = texts.learnMe.pad;
    this.buttons.setAttribute("aria-label", texts.learnMe.labels);
    this.live = make(
      "div",
      { class: "results", hidden: true },
      panel(texts.learnMe.labels, make("p", {}, texts.learnMe.how), this.buttons, this.pad),
      panel(texts.learnMe.hears, this.said, this.take),
    );
    this.element = make(
      "section",
      { id: "learn-me-part", "aria-labelledby": "learn-me-title" },
      make("h2", { id: "learn-me-title" }, texts.learnMe.title),
      make("p", {}, texts.learnMe.lead),
      form,
      this.status,
      this.live,
    );
  }

  private async begin(): Promise<void> {
    this.gestures?.end();
    this.gestures = null;
    try {
      this.classNames = namesIn(this.names.value);
      const isMotion = this.source.value === "motion";
      this.say(texts.playground.loading);
      const sensor = isMotion ? await motionSensor() : pointerSensor(this.pad);
      this.pad.hidden = isMotion;
      const learner = this.data.learners[0]!;
      const options = { bytes: BYTES, seed: 0 };
      this.gestures = await Gestures.start(learner, options, sensor, this.classNames);
      this.showButtons(this.gestures);
      this.take.replaceChildren();
      this.live.hidden = false;
      this.start.textContent = texts.learnMe.stop;
      this.gestures.run((heard) => this.show(heard), (error) => this.fail(error));
      this.say(texts.learnMe.first);
    } catch (error) {
      this.fail(error);
    }
  }

  private async end(): Promise<void> {
    const { gestures } = this;
    if (!gestures) return;
    this.start.disabled = true;
    this.buttons.replaceChildren();
    await gestures.finish();
    const model = await gestures.model();
    if (this.gestures !== gestures) return; // it failed meanwhile
    gestures.end();
    this.gestures = null;
    this.start.disabled = false;
    this.start.textContent = texts.learnMe.start;
    this.say(model ? texts.learnMe.stopped(model.samples) : texts.learnMe.nothing);
    if (model) this.showTake(gestures.csv(), model);
  }

  private fail(error: unknown): void {
    this.gestures?.end();
    this.gestures = null;
    this.start.disabled = false;
    this.start.textContent = texts.learnMe.start;
    this.say(error instanceof Error ? error.message : String(error), true);
  }

  private showButtons(gestures: Gestures): void {
    const labels = [...this.classNames.keys(), null];
    const made = labels.map((label) => {
      const text = label === null ? texts.learnMe.predict : this.classNames[label]!;
      const button = make("button", { type: "button", "aria-pressed": "false" }, text);
      button.onclick = () => {
        gestures.label = label;
        for (const each of made) each.setAttribute("aria-pressed", String(each === button));
      };
      return button;
    });
    made.at(-1)!.setAttribute("aria-pressed", "true");
    this.buttons.replaceChildren(...made);
  }

  private show(heard: Heard): void {
    if (heard.predicted === null) {
      this.say(texts.learnMe.first);
      return;
    }
    this.said.textContent = this.classNames[heard.predicted]!;
    this.said.style.opacity = String(0.4 + (0.6 * heard.confidence) / 255);
    const accuracy = heard.accuracy === null ? "" : percent(heard.accuracy);
    const waiting = heard.waiting ? texts.learnMe.waiting(heard.waiting) : "";
    this.say(texts.learnMe.heard(heard.learned, accuracy, heard.confidence) + waiting);
  }

  private showTake(csv: string, model: Model): void {
    const recording = make("button", { type: "button", id: "take-csv" }, texts.learnMe.csv);
    recording.onclick = () => save(CSV, new Blob([csv], { type: "text/csv" }));
    const file = make("button", { type: "button", id: "take-gestures" }, texts.takeAway.model);
    file.onclick = () => save("gestures.mshrub", modelFile(model, this.data));
    const classes = quoted(this.classNames.map(record).join(","));
    const words = `--classes=${classes} --bytes ${BYTES}`;
    this.take.replaceChildren(
      make("p", {}, texts.learnMe.same),
      make("pre", { tabindex: "0" }, `microshrub simulate ${CSV} ${words}`),
      make("p", {}, texts.state.page, " ", make("code", { id: "gestures-crc32" }, hex32(model.crc32))),
      make("div", { class: "labels" }, recording, file),
    );
  }

  private say(text: string, isError = false): void {
    this.status.textContent = text;
    this.status.classList.toggle("bad", isError);
  }
}

function namesIn(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  const different = new Set(names).size === names.length && !names.includes("");
  if (names.length < 2 || names.length > MOST_CLASSES || !different) {
    throw new Error(texts.learnMe.wrongNames(MOST_CLASSES));
  }
  return names;
}

/** A name as a cell of the CSV record that --classes takes. */
function record(name: string): string {
  return name.includes('"') ? `"${name.replaceAll('"', '""')}"` : name;
}
