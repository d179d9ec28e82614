// MicroPython for a board that has none: which file to drag, or, for an ESP32, written from here.

import type { Device } from "../board/device";
import { writeImage } from "../board/esp_flash";
import { chipOf } from "../board/esp_image";
import { canConnect, chosenDevice, Port } from "../board/port";
import { RawRepl } from "../board/raw_repl";
import { choice, field, make } from "../dom";
import type { Board } from "../page_data";
import { texts } from "../texts";

const RATE = 115_200;
const BOOT = 12_000; // milliseconds for a board's first start
const IMPLEMENTATION = "[list(sys.implementation[1][:3]), getattr(sys.implementation, '_machine', sys.platform)]";

export class BlankBoard {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly how = make("div", { id: "blank-how" });
  private readonly file = make("input", { id: "blank-file", type: "file", accept: ".bin" });
  private readonly write = make("button", { type: "button", id: "blank-write" }, texts.blank.write);
  private readonly progress = make("progress", { hidden: true, "aria-label": texts.blank.write });
  private readonly status = make("p", { role: "status", id: "blank-status" });

  constructor(private readonly boards: readonly Board[]) {
    const known = boards.filter(({ firmware }) => firmware);
    this.select = choice("blank-board", known.map(({ key, name }) => [key, name] as const));
    this.select.onchange = () => this.show();
    this.write.onclick = () => void this.begin();
    this.element = make(
      "details",
      { id: "blank-part" },
      make("summary", {}, texts.blank.title),
      make("p", {}, texts.blank.lead),
      field(texts.playground.board, this.select),
      this.how,
      this.progress,
      this.status,
    );
    this.show();
  }

  private show(): void {
    const board = this.boards.find(({ key }) => key === this.select.value)!;
    const { name, firmware } = board;
    this.say("");
    if (firmware.startsWith("ESP32")) this.how.replaceChildren(...this.fromHere(name, firmware));
    else this.how.replaceChildren(make("p", {}, texts.blank.drag(name, firmware)));
  }

  private fromHere(name: string, firmware: string): HTMLElement[] {
    const download = make("p", {}, texts.blank.download(name, firmware));
    if (!canConnect()) return [download, make("p", {}, texts.board.noSerial)];
    return [download, field(texts.blank.file, this.file), this.write];
  }

  private async begin(): Promise<void> {
    this.write.disabled = true;
    this.say(""); // clear the message of the previous try
    try {
      const file = this.file.files?.[0];
      if (!file) throw new Error(texts.blank.noFile);
      const image = new Uint8Array(await file.arrayBuffer());
      const chip = chipOf(image);
      const device = await chosenDevice();
      this.say(texts.blank.connecting);
      await writeImage(device, image, chip, {
        erasing: (name) => this.say(texts.blank.erasing(name)),
        writing: (done, total) => this.tell(done, total),
      });
      this.progress.hidden = true;
      this.say(texts.blank.starting);
      this.say(await startMessage(device), "good");
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), "bad");
    }
    this.progress.hidden = true;
    this.write.disabled = false;
  }

  private tell(done: number, total: number): void {
    this.progress.hidden = false;
    [this.progress.value, this.progress.max] = [done, total];
    this.say(done < total ? texts.blank.writing(done, total) : texts.blank.comparing);
  }

  private say(text: string, state = ""): void {
    this.status.textContent = text;
    this.status.className = state;
  }
}

/** Return a message with MicroPython's version, or on how to continue without an answer. */
async function startMessage(device: Device): Promise<string> {
  const end = performance.now() + BOOT;
  for (;;) {
    try {
      const port = await Port.open(device, RATE);
      try {
        const repl = await RawRepl.enter(port);
        await repl.run("import sys");
        const [version, machine] = await repl.value<[number[], string]>(IMPLEMENTATION);
        return texts.blank.answers(version.join("."), machine);
      } finally {
        await port.close();
      }
    } catch {
      if (performance.now() > end) return texts.blank.silent;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
