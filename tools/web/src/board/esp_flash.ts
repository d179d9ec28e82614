// Writes an image to the flash of an ESP32 or a relative, through the loader in its ROM, with
// Espressif's own esptool-js. https://github.com/espressif/esptool-js

import { texts } from "../texts";
import type { Device } from "./device";
import { ImageError, type Chip } from "./esp_image";
import { md5 } from "./md5";

const ROM_RATE = 115_200; // bits a second, at which the ROM begins
const RATE = 460_800; // a rate that almost every USB-to-UART chip supports
const RESET = 100; // milliseconds
const SET_PARAMETERS = 0x0b; // SPI_SET_PARAMS, which esptool-js does not have
const [BLOCK, SECTOR, PAGE, STATUS] = [0x10000, 0x1000, 0x100, 0xffff]; // the same for all such flash chips
const SILENT = { clean: () => undefined, write: () => undefined, writeLine: () => undefined };

export interface Steps {
  /** Report that the loader answers, and that the erase begins. */
  erasing(chip: string): void;
  writing(done: number, total: number): void;
}

/** Erase the flash, write the image, have the chip compare it, and start it. */
export async function writeImage(
  device: Device,
  image: Uint8Array,
  wanted: Chip,
  steps: Steps,
): Promise<void> {
  const { ESPLoader, Transport } = await import("esptool-js"); // large, and rarely needed
  const transport = new Transport(device as never);
  const speeds = { baudrate: RATE, romBaudrate: ROM_RATE };
  const loader = new ESPLoader({ transport, ...speeds, terminal: SILENT });
  try {
    await loader.main().catch((error: unknown) => {
      throw new ImageError(texts.blank.noLoader(String(error)));
    });
    if (loader.chip.IMAGE_CHIP_ID !== wanted.id) {
      throw new ImageError(texts.blank.otherChip(loader.chip.CHIP_NAME, wanted.name));
    }
    await prepareFlash(loader, wanted.offset + image.length);
    steps.erasing(wanted.name);
    await loader.writeFlash({
      fileArray: [{ data: image, address: wanted.offset }],
      flashMode: "keep",
      flashFreq: "keep",
      flashSize: "keep",
      eraseAll: true,
      compress: true,
      reportProgress: (_, done, total) => steps.writing(done, total),
      calculateMD5Hash: md5,
    });
    await restart(transport);
  } finally {
    await transport.disconnect().catch(() => undefined); // the restart closes a chip's own USB
  }
}

type Loader = InstanceType<(typeof import("esptool-js"))["ESPLoader"]>;

/** Attach the flash chip, with the size that it reports. */
async function prepareFlash(loader: Loader, needed: number): Promise<void> {
  await loader.flashSpiAttach(0);
  const detected = await loader.detectFlashSize();
  const size = sizeOf(detected ?? "");
  if (size < needed) throw new ImageError(texts.blank.small(detected ?? "?"));
  const parameters = new DataView(new ArrayBuffer(24));
  const words = [0, size, BLOCK, SECTOR, PAGE, STATUS];
  words.forEach((word, i) => parameters.setUint32(4 * i, word, true));
  const payload = new Uint8Array(parameters.buffer);
  await loader.checkCommand("set flash parameters", SET_PARAMETERS, payload);
}

/** Return a size such as "4MB" in bytes. */
function sizeOf(text: string): number {
  return (parseInt(text, 10) || 0) * (text.endsWith("KB") ? 1 << 10 : 1 << 20);
}

/** Pull the chip's reset line for a moment, with the line that selects the loader at rest. */
async function restart(transport: {
  setDTR(state: boolean): Promise<void>;
  setRTS(state: boolean): Promise<void>;
}): Promise<void> {
  await transport.setDTR(false);
  await transport.setRTS(true);
  await new Promise((resolve) => setTimeout(resolve, RESET));
  await transport.setRTS(false);
}
