// A firmware image for an ESP32 and its relatives, as on micropython.org: the boot loader, the
// partition table and MicroPython in one file.
// https://docs.espressif.com/projects/esptool/en/latest/esp32/advanced-topics/firmware-image-format.html

import { texts } from "../texts";

/** A kind of chip: its number in an image's header, and where in the flash an image begins. */
export interface Chip {
  readonly id: number;
  readonly name: string;
  readonly offset: number;
}

export const CHIPS: readonly Chip[] = [
  { id: 0, name: "ESP32", offset: 0x1000 },
  { id: 2, name: "ESP32-S2", offset: 0x1000 },
  { id: 5, name: "ESP32-C3", offset: 0 },
  { id: 9, name: "ESP32-S3", offset: 0 },
  { id: 13, name: "ESP32-C6", offset: 0 },
];

const MAGIC = 0xe9; // the first byte
const CHIP = 12; // place of the chip's number, 16 bits
const PARTITIONS = 0x8000; // where in the flash the table of partitions begins
const PARTITION = [0xaa, 0x50]; // the table's first bytes

/** The file cannot be written to that board; the message has the reason. */
export class ImageError extends Error {}

/** Return the chip that a file is for. Throws ImageError if the file is no complete image. */
export function chipOf(image: Uint8Array): Chip {
  if (image[0] !== MAGIC) throw new ImageError(texts.blank.noImage);
  const id = image[CHIP]! | (image[CHIP + 1]! << 8);
  const chip = CHIPS.find((each) => each.id === id);
  if (!chip) throw new ImageError(texts.blank.unknownChip(id, CHIPS.map(({ name }) => name)));
  const table = PARTITIONS - chip.offset;
  if (PARTITION.some((byte, i) => image[table + i] !== byte)) {
    throw new ImageError(texts.blank.noPartitions);
  }
  return chip;
}
