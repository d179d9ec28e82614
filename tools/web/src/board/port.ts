// A board's serial port: through WebSerial, or through `microshrub bridge`.

import { texts } from "../texts";

/** Carries bytes. `take` is called with those that come, `lost` once when the port is gone. */
export interface Port {
  take: (data: Uint8Array) => void;
  lost: (why: string) => void;
  write(data: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** The port cannot be used; the message says what to do. */
export class PortError extends Error {}

const BRIDGE = /^#bridge=([\w-]+)$/;

/** The part of WebSerial that is used here: no browser's types have it yet. */
interface SerialPortLike {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  open(options: { baudRate: number }): Promise<void>;
  close(): Promise<void>;
}

interface SerialLike {
  requestPort(): Promise<SerialPortLike>;
}

function webSerial(): SerialLike | undefined {
  return (navigator as unknown as { serial?: SerialLike }).serial;
}

/** Whether this page can have a board's port. */
export function canConnect(): boolean {
  return BRIDGE.test(location.hash) || webSerial() !== undefined;
}

/** The port: the bridge's if the page's address has its token, else the one that the user picks. */
export async function openPort(baud: number): Promise<Port> {
  const token = BRIDGE.exec(location.hash)?.[1];
  return token ? openBridge(token) : openSerial(baud);
}

async function openBridge(token: string): Promise<Port> {
  const socket = new WebSocket(`ws://${location.host}/bridge?token=${token}`);
  socket.binaryType = "arraybuffer";
  const port: Port = {
    take: () => undefined,
    lost: () => undefined,
    write: async (data) => socket.send(new Uint8Array(data)),
    close: async () => {
      port.lost = () => undefined;
      socket.close();
    },
  };
  socket.onmessage = (event: MessageEvent<ArrayBuffer>) => port.take(new Uint8Array(event.data));
  socket.onclose = (event) => port.lost(event.reason || texts.board.bridgeGone);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new PortError(texts.board.bridgeGone));
  });
  return port;
}

async function openSerial(baud: number): Promise<Port> {
  const serial = webSerial();
  if (!serial) throw new PortError(texts.board.noSerial);
  const device = await serial.requestPort().catch(() => {
    throw new PortError(texts.board.noneChosen);
  });
  await device.open({ baudRate: baud }).catch(() => {
    throw new PortError(texts.board.taken);
  });
  const reader = device.readable.getReader();
  const writer = device.writable.getWriter();
  const port: Port = {
    take: () => undefined,
    lost: () => undefined,
    write: (data) => writer.write(data),
    close: async () => {
      port.lost = () => undefined;
      await reader.cancel();
      reader.releaseLock();
      writer.releaseLock();
      await device.close();
    },
  };
  void readAll(reader, port);
  return port;
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>, port: Port): Promise<void> {
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      port.take(value);
    }
  } catch {
    port.lost(texts.board.gone);
  }
}
