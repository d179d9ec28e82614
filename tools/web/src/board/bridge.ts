// The port behind `microshrub bridge`, over a WebSocket, as WebSerial would have it.
//
// Binary messages carry the port's bytes. Text messages are JSON: one from the bridge when it has
// the port, with the numbers of the USB device, and settings from the page.

import { texts } from "../texts";
import { PortError, type Device, type Signals, type Usb } from "./device";

export class BridgeDevice extends EventTarget implements Device {
  readable: ReadableStream<Uint8Array> | null = null;
  writable: WritableStream<Uint8Array> | null = null;
  private usb: Usb = {};
  private socket!: WebSocket;

  constructor(private readonly token: string) {
    super();
  }

  getInfo(): Usb {
    return this.usb;
  }

  /** Open the port at the bridge's rate. Rejects with PortError, which has the bridge's reason. */
  async open(): Promise<void> {
    const socket = new WebSocket(`ws://${location.host}/bridge?token=${this.token}`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let bytes!: ReadableStreamDefaultController<Uint8Array>;
    const readable = new ReadableStream<Uint8Array>({
      start: (from) => void (bytes = from),
      cancel: () => void (socket.onmessage = null),
    });
    await new Promise<void>((resolve, reject) => {
      socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
        if (typeof data !== "string") return bytes.enqueue(new Uint8Array(data));
        this.usb = JSON.parse(data) as Usb;
        resolve();
      };
      socket.onclose = ({ reason }) => {
        const why = new PortError(reason || texts.board.bridgeGone);
        this.readable = this.writable = null;
        bytes.error(why);
        reject(why); // no effect if the port was open
      };
    });
    this.readable = readable;
    this.writable = new WritableStream({ write: (data) => socket.send(new Uint8Array(data)) });
  }

  /** Continue at another rate until the port is closed. */
  async setBaudRate(baudRate: number): Promise<void> {
    this.socket.send(JSON.stringify({ baudRate }));
  }

  async setSignals(signals: Signals): Promise<void> {
    this.socket.send(JSON.stringify(signals));
  }

  async close(): Promise<void> {
    this.readable = this.writable = null;
    const closed = new Promise((resolve) => this.socket.addEventListener("close", resolve));
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await closed;
  }
}
