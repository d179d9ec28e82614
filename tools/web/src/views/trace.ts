// The last seconds of a sensor as curves, and a recording as a small curve.

import { make } from "../dom";

const SHOWN = 200; // readings
const LEAST = 400; // the least range: a sensor that hardly moves is a flat line
const SLOWLY = 500; // milliseconds between drawings, if a person wants no movement
const MOST = 6; // axes that are drawn, so that they can be told apart
const COLOURS = ["--model", "--nochange", "--majority", "--alarm", "--text", "--soft"];

type Values = readonly number[];

/** The sensor's latest readings, which are hidden from screen readers. */
export class Trace {
  readonly element = make("canvas", { class: "trace", "aria-hidden": "true" });
  readonly legend = make("span", { class: "axes", "aria-hidden": "true" });
  private readonly shown: { readonly values: Values; readonly taught: boolean }[] = [];
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");
  private waits = false;

  /** With `spread`, each axis has its own scale, from its least value to its most: for any unit. */
  constructor(private readonly spread = false) {}

  add(values: Values, taught: boolean): void {
    this.shown.push({ values, taught });
    if (this.shown.length > SHOWN) this.shown.shift();
    if (this.waits) return;
    this.waits = true;
    const draw = (): void => {
      this.waits = false;
      this.draw();
    };
    if (this.calm.matches) setTimeout(draw, SLOWLY);
    else requestAnimationFrame(draw);
  }

  /** Clear the sheet, for a sensor of these axes; `note` describes the sensor. */
  clear(axes: readonly string[], note: string): void {
    this.shown.length = 0;
    const names = axes.slice(0, MOST).map((name) => make("b", {}, name));
    names.forEach((each, axis) => (each.style.color = `var(${colourOf(axis)})`));
    this.legend.replaceChildren(...names, note);
    this.draw();
  }

  private draw(): void {
    const paper = paperOf(this.element);
    if (!paper) return;
    const { width, height } = paper.canvas;
    const readings = this.shown.map(({ values }) => values.slice(0, MOST));
    curves(paper, this.spread ? spread(readings) : readings, SHOWN);
    paper.fillStyle = colour("--accent");
    this.shown.forEach(({ taught }, i) => {
      if (taught) paper.fillRect((i * width) / SHOWN, height * 0.96, width / SHOWN + 1, height * 0.04);
    });
  }
}

/** Draw a recording for a card. */
export function smallCurve(readings: readonly Values[]): HTMLCanvasElement {
  const canvas = make("canvas", { class: "curve", "aria-hidden": "true" });
  requestAnimationFrame(() => {
    const paper = paperOf(canvas);
    if (paper) curves(paper, readings, readings.length);
  });
  return canvas;
}

/** Return an empty sheet of the canvas's shown size. */
function paperOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  return canvas.getContext("2d");
}

function curves(paper: CanvasRenderingContext2D, readings: readonly Values[], across: number): void {
  const { width, height } = paper.canvas;
  const axes = readings[0]?.length ?? 0;
  const known = (value: number): number => Math.abs(value) || 0;
  const most = Math.max(LEAST, ...readings.map((values) => Math.max(...values.map(known))));
  const step = Math.max(1, Math.floor(across / width));
  paper.lineWidth = 1.5 * devicePixelRatio;
  for (let axis = 0; axis < axes; axis++) {
    paper.strokeStyle = colour(colourOf(axis));
    paper.beginPath();
    for (let i = 0; i < readings.length; i += step) {
      const y = height * (0.48 - (0.44 * readings[i]![axis]!) / most);
      paper.lineTo((i * width) / across, y);
    }
    paper.stroke();
  }
}

/** Scale all axes to the same height, with the middle of each at 0; NaN is not drawn. */
function spread(readings: readonly Values[]): Values[] {
  const scales = (readings[0] ?? []).map((_, axis) => {
    const known = readings.map((values) => values[axis]!).filter((value) => !Number.isNaN(value));
    const [least, most] = [Math.min(...known), Math.max(...known)];
    return { middle: (least + most) / 2, factor: (2 * LEAST) / (most - least || 1) };
  });
  return readings.map((values) => values.map((value, axis) => (value - scales[axis]!.middle) * scales[axis]!.factor));
}

function colourOf(axis: number): string {
  return COLOURS[axis % COLOURS.length]!;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}
