// A button that records a class: while it is held, or for some seconds after a press. A countdown
// comes first, so that a hand can get ready.

import { make } from "../dom";
import { texts } from "../texts";

const COUNTED = 3; // start of the countdown
const STEP = 700; // milliseconds of each count
const PRESSED = 5000; // milliseconds that are recorded after a press

const words = texts.teach.classes;

/** The actions that the button starts. */
export interface Recorder {
  ready(): void; // the countdown begins: the sensor should be read by its end
  start(): void;
  stop(): void;
}

export class RecordButton {
  readonly element = make("button", { type: "button", class: "record", title: words.howToRecord });
  private isHeld = false;
  private isRecording = false;
  private timer = 0; // the timer of the next step; 0: idle

  constructor(private readonly recorder: Recorder) {
    this.element.onpointerdown = () => {
      for (const name of ["pointerup", "pointercancel"] as const)
        window.addEventListener(name, () => this.letGo(), { once: true });
      this.begin(true);
    };
    this.element.onclick = ({ detail }) => {
      if (!detail) this.begin(false); // a press of a key
    };
    this.element.oncontextmenu = (event) => event.preventDefault(); // the menu of a finger that holds the button
    this.show(words.record);
  }

  private begin(isHeld: boolean): void {
    if (this.isRecording) return this.end();
    if (this.timer) return;
    this.isHeld = isHeld;
    this.recorder.ready();
    this.count(COUNTED);
  }

  private count(left: number): void {
    this.show(left ? String(left) : words.recording);
    if (left) this.then(STEP, () => this.count(left - 1));
    else {
      this.isRecording = true;
      this.recorder.start();
      this.timer = 0;
      if (!this.isHeld) this.then(PRESSED, () => this.end());
    }
  }

  private letGo(): void {
    this.isHeld = false;
    if (this.isRecording) this.end();
  }

  private end(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.isRecording = false;
    this.show(words.record);
    this.recorder.stop();
  }

  private then(milliseconds: number, step: () => void): void {
    this.timer = window.setTimeout(() => this.element.isConnected && step(), milliseconds);
  }

  private show(text: string): void {
    this.element.textContent = text;
  }
}
