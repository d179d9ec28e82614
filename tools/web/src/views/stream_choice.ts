// Which stream: one that comes with the page, or a CSV or ARFF file.

import { choice, field, make } from "../dom";
import { fetched, type SampleStream } from "../page_data";
import { DataError } from "../streams/data_error";
import { columnNames, streamOf, textOf, type Stream } from "../streams/stream";
import { texts } from "../texts";

const OWN = "own";

export class StreamChoice {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly shape = make("small", {});
  private readonly link = make("a", { download: true }, texts.playground.download);
  private readonly file = make("input", { id: "file", type: "file", accept: ".csv,.arff,.gz,.txt" });
  private readonly label = choice("label", []);
  private readonly own: HTMLElement;
  private chosen: File | null = null;

  constructor(
    private readonly samples: readonly SampleStream[],
    private readonly changed: () => void,
    private readonly refused: (why: string) => void,
  ) {
    const items = samples.map(({ key }) => [key, texts.streams[key] ?? key] as const);
    this.select = choice("stream", [...items, [OWN, texts.playground.ownStream]]);
    this.select.onchange = () => this.show();
    this.file.onchange = () => void this.take(this.file.files?.[0]);
    this.own = make(
      "div",
      { class: "drop" },
      field(texts.playground.file, this.file, make("small", {}, texts.playground.drop)),
      field(texts.playground.label, this.label),
    );
    const told = make("div", { class: "told" }, this.shape, " ", this.link);
    this.element = make("div", {}, field(texts.playground.stream, this.select, told), this.own);
    this.acceptDrops();
    this.show();
  }

  /** The stream of the page that is chosen; undefined with a file of the user's own. */
  get sample(): SampleStream | undefined {
    return this.samples.find(({ key }) => key === this.select.value);
  }

  /** The class column, where another one than the last is chosen. */
  get labelColumn(): string | undefined {
    const last = this.label.options.length - 1;
    return this.sample || this.label.selectedIndex === last ? undefined : this.label.value;
  }

  /** Read the stream. Throws DataError. */
  async open(): Promise<Stream> {
    if (this.sample) {
      const name = this.sample.file.split("/").at(-1)!;
      return streamOf(name, await textOf(name, await (await fetched(this.sample.file)).blob()));
    }
    if (!this.chosen) throw new DataError(texts.errors.noFile);
    const text = await textOf(this.chosen.name, this.chosen);
    return streamOf(this.chosen.name, text, this.labelColumn);
  }

  private show(): void {
    const { sample } = this;
    this.own.hidden = sample !== undefined;
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
    this.select.value = OWN;
    this.show();
    try {
      const names = columnNames(file.name, await textOf(file.name, file));
      this.label.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
      this.label.selectedIndex = names.length - 1;
    } catch (error) {
      this.refused(error instanceof Error ? error.message : String(error));
    }
  }

  private acceptDrops(): void {
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      void this.take(event.dataTransfer?.files[0]);
    });
  }
}
