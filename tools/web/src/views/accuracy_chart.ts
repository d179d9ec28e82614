// Accuracy over time: the learner, and two simple baselines.

import type uPlot from "uplot";
import type { Status } from "../learning/messages";
import { RECENT } from "../learning/run";
import { make } from "../dom";
import { percent, texts } from "../texts";

const HEIGHT = 260;
const REDRAW = 100; // milliseconds

export class AccuracyChart {
  readonly element = make("div", { class: "chart", role: "img" });
  private readonly data: [number[], number[], number[], number[], number[]] = [[], [], [], [], []];
  private readonly drifts: number[] = [];
  private plot: uPlot | null = null;
  private drawn = 0;
  private samples = 0;

  constructor() {
    new ResizeObserver(() => this.resize()).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").onchange = () => this.plot && void this.begin();
  }

  /** Clear the chart, with room for `samples`. */
  clear(samples: number): void {
    for (const column of this.data) column.length = 0;
    this.drifts.length = 0;
    this.samples = samples;
    void this.begin();
  }

  /** Make a plot in the page's current colours. */
  private async begin(): Promise<void> {
    const { default: Plot } = await import("uplot"); // loaded only when needed
    this.plot?.destroy();
    this.plot = new Plot(this.options(this.samples), this.data, this.element);
    this.draw();
  }

  add(status: Status, recent: number, drifts: readonly number[]): void {
    const row = [status.accuracy, recent, status.accuracy_nochange, status.accuracy_majority];
    this.data[0].push(status.samples);
    row.forEach((value, i) => this.data[i + 1]!.push(value / 10_000));
    this.drifts.push(...drifts);
    const percents = row.map(percent) as [string, string, string, string];
    this.element.setAttribute("aria-label", texts.accuracy.described(...percents));
    if (performance.now() - this.drawn > REDRAW) this.draw();
  }

  draw(): void {
    this.drawn = performance.now();
    if (!this.plot) return;
    this.plot.setData(this.data);
    this.showNewest(this.plot);
  }

  /** Show the newest values in the legend, unless a pointer selects others. */
  private showNewest(plot: uPlot): void {
    if (plot.cursor.idx == null) plot.setLegend({ idx: this.data[0].length - 1 }, false);
  }

  private resize(): void {
    this.plot?.setSize({ width: this.element.clientWidth, height: HEIGHT });
  }

  private options(samples: number): uPlot.Options {
    const color = (name: string): string =>
      getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = { stroke: color("--text"), grid: { stroke: color("--line"), width: 1 } };
    const line = (label: string, name: string, dash?: number[]): uPlot.Series => ({
      label,
      stroke: color(name),
      width: dash ? 1.5 : 2.5,
      points: { show: false },
      value: (_, value) => (value == null ? "" : `${value.toFixed(1)} %`),
      ...(dash ? { dash } : {}),
    });
    return {
      width: this.element.clientWidth || 300,
      height: HEIGHT,
      scales: { x: { time: false, range: [0, samples] }, y: { range: [0, 100] } },
      axes: [axis, { ...axis, size: 60, values: (_, ticks) => ticks.map((tick) => `${tick} %`) }],
      series: [
        { label: texts.accuracy.samples },
        line(texts.accuracy.model, "--model", [1, 0]),
        line(texts.accuracy.recent(RECENT), "--model"),
        line(texts.accuracy.nochange, "--nochange", [6, 4]),
        line(texts.accuracy.majority, "--majority", [2, 3]),
      ],
      hooks: { setCursor: [(plot) => this.showNewest(plot)], draw: [(plot) => this.markDrifts(plot, color("--alarm"))] },
    };
  }

  private markDrifts(plot: uPlot, color: string): void {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.lineWidth = devicePixelRatio;
    for (const sample of this.drifts) {
      const x = plot.valToPos(sample, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }
}
