// The choice of a stream: one that comes with the page, or a CSV or ARFF file.

import { choice, field, make } from "../dom";
import { fetched, type SampleStream } from "../page_data";
import { DataError } from "../streams/data_error";
import { readFile } from "../streams/reader";
import { CLOCK, columnNames, type Stream } from "../streams/stream";
import { texts } from "../texts";

const OWN_FILE = "own";

/** A user's choice at its moment. */
export interface ChosenStream {
  readonly name: string;
  readonly sample: SampleStream | undefined; // a stream of the page; undefined with a user's own file
  readonly labelColumn: string | undefined; // if it is not the last one
  readonly drop: readonly string[]; // columns that are left out
  /** Read the stream. Throws DataError, and StoppedError after the signal. */
  read(progress: (share: number) => void, signal: AbortSignal): Promise<Stream>;
}

export class StreamChoice {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly shape = make("small", {});
  private readonly link = make("a", { download: true }, texts.playground.download);
  private readonly file = make("input", { id: "file", type: "file", accept: ".csv,.arff,.gz,.txt" });
  private readonly label = choice("label", []);
  private readonly boxes = make("div", { class: "labels", id: "drop" });
  private readonly fileFields: HTMLElement;
  private chosen: File | null = null;
  private hasChosen = false; // whether a column to leave out is chosen

  constructor(
    private readonly samples: readonly SampleStream[],
    private readonly changed: () => void,
    private readonly refused: (why: string) => void,
  ) {
    const items = samples.map(({ key }) => [key, texts.streams[key] ?? key] as const);
    this.select = choice("stream", [...items, [OWN_FILE, texts.playground.ownStream]]);
    this.select.onchange = () => this.show();
    this.file.onclick = () => (this.file.value = ""); // otherwise the same file is no change
    this.file.oncancel = () => this.showFile();
    this.file.onchange = () => void this.take(this.file.files?.[0]);
    this.label.onchange = () => {
      this.offer();
      this.changed();
    };
    this.boxes.onchange = () => this.left();
    this.fileFields = make(
      "div",
      { class: "drop" },
      field(texts.playground.file, this.file, make("small", {}, texts.playground.drop)),
      field(texts.playground.label, this.label),
      make("details", {}, make("summary", {}, texts.playground.leaveOut), this.boxes),
    );
    const details = make("div", { class: "told" }, this.shape, " ", this.link);
    this.element = make("div", {}, field(texts.playground.stream, this.select, details), this.fileFields);
    this.acceptDrops();
    this.show();
  }

  /** The chosen stream of the page; undefined with a user's own file. */
  get sample(): SampleStream | undefined {
    return this.samples.find(({ key }) => key === this.select.value);
  }

  /** The current choice. Throws DataError if there is none. */
  get now(): ChosenStream {
    const { sample, chosen } = this;
    if (!sample && !chosen) throw new DataError(texts.errors.noFile);
    const name = sample ? sample.file.split("/").at(-1)! : chosen!.name;
    const last = this.label.options.length - 1;
    const isOther = !sample && this.label.selectedIndex >= 0 && this.label.selectedIndex < last;
    const label = isOther ? this.label.value : undefined;
    const drop = sample ? [] : this.drop;
    const read: ChosenStream["read"] = async (progress, signal) => {
      const file = sample ? await (await fetched(sample.file)).blob() : chosen!;
      return readFile({ name, file, label, drop }, progress, signal);
    };
    return { name, sample, labelColumn: label, drop, read };
  }

  private show(): void {
    const { sample } = this;
    this.fileFields.hidden = sample !== undefined;
    this.link.hidden = this.shape.hidden = sample === undefined;
    if (sample) {
      this.link.href = sample.file;
      this.shape.textContent = texts.streamShape(sample.samples, sample.features, sample.classes);
    }
    this.changed();
  }

  private async take(file: File | undefined): Promise<void> {
    if (!file) return;
    this.chosen = file;
    this.showFile();
    this.select.value = OWN_FILE;
    this.label.replaceChildren();
    this.boxes.replaceChildren();
    this.show();
    try {
      const names = await columnNames(file.name, file);
      if (this.chosen !== file) return; // another file was chosen meanwhile
      this.label.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
      this.label.selectedIndex = names.length - 1;
      this.offer(); // no change: a run that has already started learns the last column, too
    } catch (error) {
      if (this.chosen === file && !this.sample) this.refused(error instanceof Error ? error.message : String(error));
    }
  }

  /** Show the name of the chosen file, which may have been dropped. */
  private showFile(): void {
    const all = new DataTransfer();
    if (this.chosen) all.items.add(this.chosen);
    if (this.file.files?.[0] !== this.chosen) this.file.files = all.files;
  }

  /** Offer the columns that can be left out: all but the class. */
  private offer(): void {
    const names = [...this.label.options].map(({ value }) => value);
    const columns = names.filter((name) => name !== this.label.value);
    this.hasChosen = false;
    const boxes = columns.map((name) =>
      make("label", { class: "box" }, make("input", { type: "checkbox", value: name }), name),
    );
    this.boxes.replaceChildren(...boxes);
  }

  /** Leave the clock out together with the first column that is left out. */
  private left(): void {
    const boxes = [...this.boxes.querySelectorAll("input")];
    const clock = boxes.find(({ value }) => value === CLOCK);
    const isFirst = clock !== undefined && this.label.options[0]?.value === CLOCK;
    if (isFirst && !this.hasChosen) clock.checked = true;
    this.hasChosen = this.drop.length > 0;
    this.changed();
  }

  private get drop(): readonly string[] {
    const boxes = [...this.boxes.querySelectorAll("input")];
    return boxes.filter(({ checked }) => checked).map(({ value }) => value);
  }

  private acceptDrops(): void {
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      void this.take(event.dataTransfer?.files[0]);
    });
  }
}
