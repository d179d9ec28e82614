// The sensor of a board on a cable, whose program sends its readings over the link. The page waits
// for a lost line, and a board that was reset goes on; missing readings leave a gap.

import { chosenDevice, Port } from "../board/port";
import type { Shape } from "../learning/windows";
import { SensorError, type Reading, type Sensor } from "../sensors";
import { MISSING } from "../streams/units";
import { texts } from "../texts";
import { BoardLink, type Configuration, type Observation } from "./board_link";
import { inWords } from "./in_words";
import { rateOf, zeroOf } from "./sensor_settings";

const BAUD = 115_200;
const EVERY = 1000; // milliseconds between two checks for the board
const FIRST = 5000; // milliseconds for the first reading, besides two of its periods
const NUMBERS = 65536; // numbers of observations, which wrap around
const MOST = 32767; // the largest value of 16 bits with a sign
const words = texts.teach.cable;

/** The listener to changes of the board's line. */
export interface BoardListener {
  interrupted(why: string | null): void; // why the line is lost; null: it is back
  ended(why: string): void; // why the line is lost for good
}

/** The board is connected, but its program does not send readings. */
export class NoReadingsError extends SensorError {}

let closed: Promise<void> = Promise.resolve(); // resolves when the last port is closed

export class BoardSensor implements Sensor {
  shape!: Shape;
  lost = 0;
  private link: BoardLink | null = null;
  private queue: Reading[] = [];
  private number: number | null = null; // the newest observation's number
  private newest: number[] = []; // raw values, each the last known one
  private arrived: () => void = () => undefined;
  private isOver = false;

  private constructor(
    private readonly port: Port,
    private readonly listener: BoardListener,
  ) {}

  /** Connect; `wanted` is the shape that the readings have to have, if known. Rejects with an Error. */
  static async open(wanted: Shape | null, listener: BoardListener): Promise<BoardSensor> {
    const device = await chosenDevice(); // first: browsers ask only during a press
    await closed;
    const sensor = new BoardSensor(await Port.open(device, BAUD), listener);
    try {
      await sensor.begin(wanted);
    } catch (error) {
      await sensor.stop();
      throw isSilent(error) ? new NoReadingsError(words.silent) : new SensorError(inWords(error));
    }
    void sensor.watch(sensor.link!);
    return sensor;
  }

  read(): readonly Reading[] {
    return this.queue.splice(0);
  }

  stop(): Promise<void> {
    this.isOver = true;
    this.link?.close();
    return (closed = this.port.close());
  }

  private async begin(wanted: Shape | null): Promise<void> {
    const link = await BoardLink.open(this.port);
    this.link = link;
    link.interrupted = (why) => {
      this.leaveGap();
      this.listener.interrupted(why);
    };
    const { feature_names: axes } = checked(link.configuration, link.target);
    const rate = rateOf(link.configuration.sensor!);
    if (wanted && (wanted.rate !== rate || wanted.axes.join("\n") !== axes.join("\n"))) {
      throw new SensorError(words.otherReadings(wanted.axes, wanted.rate));
    }
    link.observed = (observation) => this.take(observation);
    await this.first(FIRST + 2000 / rate);
    const zero = wanted?.zero ?? zeroOf(link.configuration.sensor!, this.newest);
    this.shape = { axes, rate, zero, sensor: link.configuration.sensor! };
    this.queue = [];
  }

  /** Wait for the first reading. */
  private async first(patience: number): Promise<void> {
    const came = new Promise<boolean>((resolve) => (this.arrived = () => resolve(true)));
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, patience, false));
    if (!(await Promise.race([came, late]))) throw new SensorError(words.nothing);
  }

  private take({ number, values }: Observation): void {
    const next = this.number === null ? number : (this.number + 1) % NUMBERS;
    this.lost += (number - next + NUMBERS) % NUMBERS;
    if (number !== next) this.leaveGap();
    this.number = number;
    this.newest = Array.from(values, (raw, axis) => (raw === MISSING ? (this.newest[axis] ?? 0) : raw));
    this.arrived();
    if (this.shape) this.queue.push(this.newest.map((raw, axis) => within(raw - this.shape.zero[axis]!)));
  }

  private leaveGap(): void {
    this.number = null;
    this.queue.push(null);
  }

  /** Check for the board from time to time; begin a new session after a reset. */
  private async watch(link: BoardLink): Promise<void> {
    const { configuration } = link.welcome;
    try {
      while (!this.isOver) {
        await link.status().catch(async (error: unknown) => {
          await link.again(error);
          this.leaveGap();
          if (link.welcome.configuration !== configuration) throw new SensorError(words.otherProgram);
        });
        await new Promise((resolve) => setTimeout(resolve, EVERY));
      }
    } catch (error) {
      if (!this.isOver) this.listener.ended(inWords(error));
    }
  }
}

/** Return the configuration, if the board's program sends the readings of its sensor. */
function checked(configuration: Configuration, target: number | null): Configuration {
  const { sensor, extraction } = configuration;
  if (!sensor) throw new SensorError(words.tooOld);
  if (target !== null || configuration.class_names.length < 2) throw new NoReadingsError(words.forecasts);
  if (sensor.kind === "serial") throw new NoReadingsError(words.noSensor);
  if (extraction) throw new NoReadingsError(words.features);
  if (rateOf(sensor) < 1) throw new SensorError(words.slow(1 / rateOf(sensor)));
  return configuration;
}

function isSilent(error: unknown): boolean {
  return (error as { code?: string }).code === "silent";
}

function within(value: number): number {
  return Math.min(Math.max(value, -MOST - 1), MOST);
}
