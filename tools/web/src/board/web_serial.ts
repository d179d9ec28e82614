// The ports that the user picks, over WebSerial: https://wicg.github.io/serial/

import { texts } from "../texts";
import { PortError, type Device } from "./device";

interface Serial {
  getPorts(): Promise<Device[]>;
  requestPort(): Promise<Device>;
}

const serial = (navigator as unknown as { serial?: Serial }).serial; // missing in TypeScript's types

export function hasSerial(): boolean {
  return serial !== undefined;
}

/** Ask the user for a port. Rejects with PortError. */
export async function pickedDevice(): Promise<Device> {
  if (!serial) throw new PortError(texts.board.noSerial);
  return serial.requestPort().catch(() => {
    throw new PortError(texts.board.noneChosen);
  });
}

/** Return the same board's device, which is another object after it was plugged in again. */
export async function pluggedIn(device: Device): Promise<Device> {
  const ports = (await serial?.getPorts()) ?? [];
  const info = JSON.stringify(device.getInfo());
  const again = ports.find((each) => JSON.stringify(each.getInfo()) === info);
  return ports.includes(device) ? device : (again ?? device);
}
