// The port that the user picks, over WebSerial: https://wicg.github.io/serial/

import { texts } from "../texts";
import { PortError, type Connect, type Connection, type Take } from "./port";

/** The part of WebSerial that is used here: no browser's types have it yet. */
export interface SerialDevice extends EventTarget {
  readonly readable: ReadableStream<Uint8Array> | null;
  readonly writable: WritableStream<Uint8Array> | null;
  getInfo(): { usbVendorId?: number; usbProductId?: number };
  open(options: { baudRate: number }): Promise<void>;
  setSignals(signals: { dataTerminalReady?: boolean; requestToSend?: boolean }): Promise<void>;
  close(): Promise<void>;
}

interface SerialLike {
  getPorts(): Promise<SerialDevice[]>;
  requestPort(): Promise<SerialDevice>;
}

const serial = (navigator as unknown as { serial?: SerialLike }).serial;

export function hasSerial(): boolean {
  return serial !== undefined;
}

/** Ask the user for a port. */
export function chosenDevice(): Promise<SerialDevice> {
  return serial!.requestPort().catch(() => {
    throw new PortError(texts.board.noneChosen);
  });
}

/** Connects to that port; `rate` is in bits a second. */
export function webSerial(chosen: SerialDevice, rate: number): Connect {
  let device = chosen;
  return async (take) => {
    device = await present(device);
    await device.open({ baudRate: rate }).catch(() => {
      throw new PortError(texts.board.taken);
    });
    return connected(device, take);
  };
}

/** A board that was plugged in again is another object. */
async function present(device: SerialDevice): Promise<SerialDevice> {
  const ports = await serial!.getPorts();
  const info = JSON.stringify(device.getInfo());
  const again = ports.find((each) => JSON.stringify(each.getInfo()) === info);
  return ports.includes(device) ? device : (again ?? device);
}

function connected(device: SerialDevice, take: Take): Connection {
  let lose: (why: string) => void = () => undefined;
  const gone = new Promise<string>((lost) => (lose = lost));
  const unplugged = (): void => lose(texts.board.gone);
  device.addEventListener("disconnect", unplugged);
  const writer = device.writable!.getWriter();
  const reading = new Reading(device, take);
  void reading.run().then(unplugged);
  return {
    gone,
    write: (data) => writer.write(data).catch(unplugged),
    close: async () => {
      lose = () => undefined;
      device.removeEventListener("disconnect", unplugged);
      await reading.stop();
      writer.releaseLock();
      await device.close().catch(() => undefined); // it is gone already
    },
  };
}

/** Reads until the port is gone: after an error on the line it has another stream. */
class Reading {
  private reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  private readonly ended: Promise<void>;
  private end: () => void = () => undefined;
  private isOver = false;

  constructor(
    private readonly device: SerialDevice,
    private readonly take: Take,
  ) {
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  async run(): Promise<void> {
    let last: ReadableStream<Uint8Array> | null = null;
    while (this.device.readable && this.device.readable !== last && !this.isOver) {
      last = this.device.readable;
      await this.readAll(last);
    }
    this.end();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.reader?.cancel().catch(() => undefined);
    await this.ended;
  }

  private async readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    this.reader = stream.getReader();
    try {
      for (;;) {
        const { value, done } = await this.reader.read();
        if (done) return;
        this.take(value);
      }
    } catch {
      // an error on the line, or the port is gone
    } finally {
      this.reader.releaseLock();
    }
  }
}
