// A port's device: the part of WebSerial that the page uses, which the bridge has, too.
// https://wicg.github.io/serial/

export interface Usb {
  readonly usbVendorId?: number;
  readonly usbProductId?: number;
}

export interface Signals {
  readonly dataTerminalReady?: boolean;
  readonly requestToSend?: boolean;
}

export interface Device extends EventTarget {
  readonly readable: ReadableStream<Uint8Array> | null;
  readonly writable: WritableStream<Uint8Array> | null;
  getInfo(): Usb;
  open(options: { baudRate: number }): Promise<void>;
  setSignals(signals: Signals): Promise<void>;
  close(): Promise<void>;
}

/** The port cannot be used; the message tells the user what to do. */
export class PortError extends Error {}
