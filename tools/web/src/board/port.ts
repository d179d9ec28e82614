// A board's serial port: through WebSerial, or through `microshrub bridge`. It may be lost and come
// back.

import { texts } from "../texts";
import { bridge } from "./bridge";
import { chosenDevice, hasSerial, webSerial } from "./web_serial";

export type Take = (data: Uint8Array) => void;

/** The line to a port, as long as it lasts. */
export interface Connection {
  /** Resolves with the reason once it is lost, however early; never if it was closed. */
  readonly gone: Promise<string>;
  write(data: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Makes a connection, which gives the bytes that come. Rejects with PortError. */
export type Connect = (take: Take) => Promise<Connection>;

/** The port cannot be used; the message says what to do. */
export class PortError extends Error {}

const BRIDGE = /^#bridge=([\w-]+)$/;
const AGAIN = 250; // milliseconds between two tries

export class Port {
  /** Is called with the bytes that come. */
  take: Take = () => undefined;
  private connection!: Connection;
  private isClosed = false;

  private constructor(private readonly connect: Connect) {}

  static async open(connect: Connect): Promise<Port> {
    const port = new Port(connect);
    port.connection = await port.connected();
    return port;
  }

  /** Resolves with the reason once the line is lost; after reopen() it is about the new one. */
  get gone(): Promise<string> {
    return this.connection.gone;
  }

  write(data: Uint8Array): Promise<void> {
    return this.connection.write(data);
  }

  /** Have the line back as soon as the port is; rejects if it is not within that time. */
  async reopen(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    await this.connection.close();
    while (!this.isClosed) {
      try {
        this.connection = await this.connected();
        if (this.isClosed) await this.connection.close();
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.connection.close();
  }

  private connected(): Promise<Connection> {
    return this.connect((data) => this.take(data));
  }
}

/** Whether this page can have a board's port. */
export function canConnect(): boolean {
  return BRIDGE.test(location.hash) || hasSerial();
}

/** The port: the bridge's if the page's address has its token, else the one that the user picks. */
export async function openPort(baud: number): Promise<Port> {
  const token = BRIDGE.exec(location.hash)?.[1];
  if (token) return Port.open(bridge(token));
  if (!hasSerial()) throw new PortError(texts.board.noSerial);
  return Port.open(webSerial(await chosenDevice(), baud));
}
