// The line to a device, until it is lost or closed.

import { texts } from "../texts";
import { PortError, type Device } from "./device";

export type Take = (data: Uint8Array) => void;

export class Connection {
  /** Resolves with the reason once the line is lost, however early; never after close(). */
  readonly gone: Promise<string>;
  private lose: (why: string) => void = () => undefined;
  private readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  private readonly reading: Reading;
  private readonly unplugged = (): void => this.lose(texts.board.gone);

  private constructor(
    private readonly device: Device,
    take: Take,
  ) {
    this.gone = new Promise((lost) => (this.lose = lost));
    device.addEventListener("disconnect", this.unplugged);
    this.writer = device.writable!.getWriter();
    this.reading = new Reading(device, take);
    void this.reading.run().then((why) => this.lose(why));
  }

  /** Open the device; `rate` is in bits a second. Rejects with PortError. */
  static async open(device: Device, rate: number, take: Take): Promise<Connection> {
    await device.open({ baudRate: rate }).catch((error: unknown) => {
      throw error instanceof PortError ? error : new PortError(texts.board.taken);
    });
    return new Connection(device, take);
  }

  /** Send data; if the line is lost, `gone` resolves. */
  write(data: Uint8Array): Promise<void> {
    return this.writer.write(data).catch(this.unplugged);
  }

  async close(): Promise<void> {
    this.lose = () => undefined;
    this.device.removeEventListener("disconnect", this.unplugged);
    await this.reading.stop();
    this.writer.releaseLock();
    await this.device.close().catch(() => undefined); // the device is gone already
  }
}

/** Reads until the port is gone: after an error on the line, the port has another stream. */
class Reading {
  private reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  private ended: Promise<string> = Promise.resolve("");
  private why = texts.board.gone;
  private isOver = false;

  constructor(
    private readonly device: Device,
    private readonly take: Take,
  ) {}

  /** Read until the end; resolve with the reason for it. */
  run(): Promise<string> {
    this.ended = this.readStreams();
    return this.ended;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.reader?.cancel().catch(() => undefined);
    await this.ended;
  }

  private async readStreams(): Promise<string> {
    let last: ReadableStream<Uint8Array> | null = null;
    while (this.device.readable && this.device.readable !== last && !this.isOver) {
      last = this.device.readable;
      await this.readAll(last);
    }
    return this.why;
  }

  private async readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    this.reader = stream.getReader();
    try {
      for (;;) {
        const { value, done } = await this.reader.read();
        if (done) return;
        this.take(value);
      }
    } catch (error) {
      if (error instanceof PortError) this.why = error.message; // otherwise an error on the line
    } finally {
      this.reader.releaseLock();
    }
  }
}
