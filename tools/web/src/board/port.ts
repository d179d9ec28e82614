// A board's serial port: through WebSerial, or through `microshrub bridge`. The port may be lost and
// come back.

import { BridgeDevice } from "./bridge";
import { Connection, type Take } from "./connection";
import type { Device } from "./device";
import { hasSerial, pickedDevice, pluggedIn } from "./web_serial";

const BRIDGE = /^#bridge=([\w-]+)$/;
const AGAIN = 250; // milliseconds between two tries

/** Return whether `microshrub bridge`, which has a board, serves this page. */
export function isBridge(): boolean {
  return BRIDGE.test(location.hash);
}

/** Return whether this page can open a board's port. */
export function canConnect(): boolean {
  return isBridge() || hasSerial();
}

/** Return the bridge's device if the page's address has its token, else a device that the user picks. */
export async function chosenDevice(): Promise<Device> {
  const token = BRIDGE.exec(location.hash)?.[1];
  return token ? new BridgeDevice(token) : pickedDevice();
}

export class Port {
  /** Called with the received bytes. */
  take: Take = () => undefined;
  private connection!: Connection;
  private isClosed = false;

  private constructor(
    private device: Device,
    private readonly rate: number,
  ) {}

  /** Open a device; `rate` is in bits a second. Rejects with PortError. */
  static async open(device: Device, rate: number): Promise<Port> {
    const port = new Port(device, rate);
    await port.connect();
    return port;
  }

  /** Resolves with the reason once the line is lost; after reopen(), for the new line. */
  get gone(): Promise<string> {
    return this.connection.gone;
  }

  write(data: Uint8Array): Promise<void> {
    return this.connection.write(data);
  }

  /** Open the line again as soon as the port is back; reject after `milliseconds`. */
  async reopen(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    await this.connection.close();
    while (!this.isClosed) {
      try {
        await this.connect();
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

  private async connect(): Promise<void> {
    const { device } = this;
    this.device = device instanceof BridgeDevice ? device : await pluggedIn(device);
    this.connection = await Connection.open(this.device, this.rate, (data) => this.take(data));
  }
}
