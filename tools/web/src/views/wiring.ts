// How a sensor, lights, a NeoPixel and a buzzer are wired to a board: a picture of our own, and the same
// in words.

import { make, table } from "../dom";
import type { SensorSettings } from "../link/sensor_settings";
import type { Board } from "../page_data";
import { texts } from "../texts";

const words = texts.wiring;
const SVG = "http://www.w3.org/2000/svg";
const [STEP, TOP, WIDTH, ABOVE] = [22, 72, 700, 14]; // in the picture's unit
const [SENSOR, BOARD, BOARD_END, LIGHT, RAIL] = [150, 250, 390, 540, 580]; // places across it
// A Raspberry Pi Pico's pins from above, USB at the top: 1 to 20, and 40 to 21
const LEFT =
  "GP0 GP1 GND GP2 GP3 GP4 GP5 GND GP6 GP7 GP8 GP9 GND GP10 GP11 GP12 GP13 GND GP14 GP15".split(" ");
const RIGHT = (
  "VBUS VSYS GND 3V3_EN 3V3 VREF GP28 AGND GP27 GP26 RUN GP22 GND GP21 GP20 GP19 GP18 GND GP17 GP16"
).split(" ");
const INSIDE = -1; // the row of a pin that is not at the board's edge
const LIGHT_GND = 23; // next to the pins of lights

/** A light at a pin, with its label. */
interface Light {
  readonly pin: number;
  readonly label: string;
}

/** The parts that show the answer: lights, and the pin of a NeoPixel or a buzzer. */
export interface Parts {
  readonly lights: readonly Light[];
  readonly pixel?: number;
  readonly buzzer?: number;
}

/** Return whether a part is to be wired. */
export const hasParts = ({ lights, pixel, buzzer }: Parts): boolean =>
  lights.length > 0 || pixel !== undefined || buzzer !== undefined;

interface Place {
  readonly name: string; // as it is printed on the board
  readonly number?: number; // counted along its edge, if all boards of the kind have the same
  readonly row: number;
  readonly isLeft: boolean;
}

type Wire = readonly [from: string, to: Place];
type End = readonly [from: string, pin: number];

const BARE = ["adc", "clamp"]; // sensors whose pins have no module with its own wires

/** Return the wires of a sensor's module besides power; null: there is no module. */
export function signalsOf(sensor: SensorSettings): readonly End[] | null {
  const { scl, sda, pin } = { ...sensor, ...sensor.options } as Readonly<Record<string, unknown>>;
  if (BARE.includes(sensor.module ?? sensor.kind)) return null;
  if (typeof scl === "number" && typeof sda === "number") return [["SCL", scl], ["SDA", sda]];
  return typeof pin === "number" ? [["OUT", pin]] : null;
}

const isPico = ({ key }: Board): boolean => key.startsWith("rpi_pico");

/** Return a pin's name as printed on the board. */
const nameOf = (board: Board, pin: number): string => (isPico(board) ? `GP${pin}` : `GPIO ${pin}`);

/** Return a pin's name, with its number if all boards of the kind have the same. */
export function pinName(board: Board, pin: number): string {
  const name = nameOf(board, pin);
  return pinLabel(picoPins().find((each) => each.name === name) ?? { name });
}

/** Make the picture and its table; the sensor is null if the board has none with its own wires. */
export function wiring(board: Board, sensor: SensorSettings | null, parts: Parts): HTMLElement {
  const { lights, pixel, buzzer } = parts;
  const signals = sensor && signalsOf(sensor);
  const pins = isPico(board) ? picoPins() : fewPins(signals, parts);
  const named = (name: string, isLeft = true): Place =>
    pins.find((pin) => pin.name === name && pin.isLeft === isLeft) ??
    pins.find((pin) => pin.name === name) ?? { name, row: INSIDE, isLeft };
  const called = (pin: number): string => nameOf(board, pin);
  const ofSensor: Wire[] = signals
    ? [
        ["VCC", named("3V3")],
        ["GND", named("GND")],
        ...signals.map(([from, pin]): Wire => [from, named(called(pin))]),
      ]
    : [];
  const ofLights = lights.map(({ pin, label }): Wire => [label, named(called(pin), false)]);
  const ground = pins.find(({ number }) => number === LIGHT_GND) ?? named("GND", false);
  const ofPixel: Wire[] =
    pixel === undefined
      ? []
      : [
          ["VCC", named("3V3", false)],
          ["GND", ground],
          ["DIN", named(called(pixel), false)],
        ];
  const ofBuzzer: Wire[] =
    buzzer === undefined ? [] : words.buzzer.map((end, i) => [end, i ? ground : named(called(buzzer), false)]);
  const cells = [
    ...ofSensor.map(([from, to]) => [`${words.sensor} ${from}`, pinLabel(to)]),
    ...ofLights.map(([name, to]) => [words.light(name), pinLabel(to)]),
    ...(lights.length ? [[words.ground, pinLabel(ground)]] : []),
    ...ofPixel.map(([end, to]) => [words.pixel(end), pinLabel(to)]),
    ...ofBuzzer.map(([end, to]) => [end, pinLabel(to)]),
  ];
  const used = [...ofSensor, ...ofLights, ...ofPixel, ...ofBuzzer].map(([, to]) => to);
  if (lights.length) used.push(ground);
  const rows = 1 + Math.max(...pins.map(({ row }) => row), 3);
  const height = TOP + rows * STEP + 12;
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", class: "wires" });
  picture.setAttribute("aria-label", words.picture(board.name));
  picture.append(
    ...body(board, rows),
    ...pins.flatMap((pin) => pinMarks(pin, used.includes(pin))),
    ...(signals ? sensorMarks(sensor!, ofSensor, isPico(board) ? STEP / 2 : 0) : []),
    ...lightMarks(ofLights, ground),
    ...moduleMarks("NeoPixel", ofPixel, true),
    ...moduleMarks(words.buzzerName, ofBuzzer.map(([, to], i): Wire => [i ? "GND" : "IN", to]), false),
  );
  return make("figure", { class: "wiring" }, picture, table([words.from, words.to], cells));
}

function picoPins(): Place[] {
  return [
    ...LEFT.map((name, row) => ({ name, number: row + 1, row, isLeft: true })),
    ...RIGHT.map((name, row) => ({ name, number: 40 - row, row, isLeft: false })),
  ];
}

/** Return the used pins, for a board whose makers arrange the pins in many ways. */
function fewPins(signals: readonly End[] | null, parts: Parts): Place[] {
  const { lights, pixel, buzzer } = parts;
  const left = signals ? ["3V3", "GND", ...signals.map(([, pin]) => `GPIO ${pin}`)] : [];
  const right = [
    ...lights.map(({ pin }) => `GPIO ${pin}`),
    ...(pixel === undefined ? [] : [`GPIO ${pixel}`, "3V3"]),
    ...(buzzer === undefined ? [] : [`GPIO ${buzzer}`]),
    ...(hasParts(parts) ? ["GND"] : []),
  ];
  return [
    ...left.map((name, row) => ({ name, row, isLeft: true })),
    ...right.map((name, row) => ({ name, row, isLeft: false })),
  ];
}

function pinLabel({ name, number }: Pick<Place, "name" | "number">): string {
  return number === undefined ? name : words.pin(name, number);
}

const across = ({ isLeft }: Place): number => (isLeft ? BOARD : BOARD_END);
const down = ({ row }: { readonly row: number }): number => TOP + STEP * row;

function body(board: Board, rows: number): SVGElement[] {
  const middle = (BOARD + BOARD_END) / 2;
  const edge = { x: BOARD, y: TOP - 20, width: BOARD_END - BOARD, height: rows * STEP + 18, rx: 6 };
  return [
    drawn("rect", { ...edge, class: "board" }),
    drawn("rect", { x: middle - 18, y: TOP - 30, width: 36, height: 20, class: "usb" }),
    text("USB", middle, TOP - 15, { class: "on-usb", "text-anchor": "middle" }),
    text(board.name, middle, TOP - 38, { "text-anchor": "middle" }),
  ];
}

function pinMarks(pin: Place, isUsed: boolean): SVGElement[] {
  const [x, y] = [across(pin), down(pin)];
  const anchor = { "text-anchor": pin.isLeft ? "start" : "end", class: isUsed ? "pin used" : "pin" };
  const name = isUsed && pin.number !== undefined ? `${pin.name} · ${pin.number}` : pin.name;
  return [
    drawn("circle", { cx: x, cy: y, r: 4, class: "hole" }),
    text(name, pin.isLeft ? x + 9 : x - 9, y + 4, anchor),
  ];
}

/** Draw the sensor with its wires; `lower` keeps these apart from wires to pins in another order. */
function sensorMarks(sensor: SensorSettings, wires: readonly Wire[], lower: number): SVGElement[] {
  const box = { x: 20, y: TOP - 20 + lower, width: SENSOR - 20, height: wires.length * STEP + 18, rx: 6 };
  const marks = wires.flatMap(([label, to], row) => {
    if (to.row === INSIDE) return [];
    const [y, bend] = [down({ row }) + lower, SENSOR + 18 + 20 * row];
    const way = to.isLeft
      ? `H${bend} V${down(to)} H${BOARD}`
      : `H${bend} V${ABOVE} H${BOARD_END + 20} V${down(to)} H${BOARD_END}`; // around the board's end
    return [
      drawn("path", { d: `M${SENSOR} ${y} ${way}`, class: `wire ${label}` }),
      text(label, SENSOR - 8, y + 4, { "text-anchor": "end" }),
    ];
  });
  const { module } = sensor;
  const name = (module?.toUpperCase().split("_") ?? ["GY-521", "MPU-6050"]).map((each, i) => text(each, 28, TOP + lower + STEP * (i + 1), {}));
  return [drawn("rect", { ...box, class: "part" }), ...name, ...marks];
}

/** Draw each light with its resistor at its pin; the common wire goes to ground. */
function lightMarks(wires: readonly Wire[], ground: Place): SVGElement[] {
  if (!wires.length) return [];
  const rows = [...wires.map(([, to]) => to), ground].map(down);
  const rail = `M${RAIL} ${Math.min(...rows)} V${Math.max(...rows)} M${RAIL} ${down(ground)} H${BOARD_END}`;
  const lights = wires.flatMap(([name, to]) => {
    const y = down(to);
    return [
      drawn("path", { d: `M${BOARD_END} ${y} H${RAIL}`, class: "wire light" }),
      drawn("rect", { x: 450, y: y - 5, width: 40, height: 10, class: "part" }),
      drawn("circle", { cx: LIGHT, cy: y, r: 8, class: "lamp" }),
      text(name, RAIL + 10, y + 4, {}),
    ];
  });
  return [drawn("path", { d: rail, class: "wire GND" }), ...lights];
}

/** Draw a NeoPixel or a buzzer, as high as its wires are apart; only a NeoPixel shines. */
function moduleMarks(name: string, wires: readonly Wire[], shines: boolean): SVGElement[] {
  if (!wires.length) return [];
  const rows = wires.map(([, to]) => down(to));
  const [first, last] = [Math.min(...rows), Math.max(...rows)];
  const ends = wires.flatMap(([end, to]) => [
    drawn("path", { d: `M${BOARD_END} ${down(to)} H${LIGHT}`, class: `wire ${end}` }),
    text(end, LIGHT + 8, down(to) + 4, {}),
  ]);
  const box = { x: LIGHT, y: first - 18, width: 110, height: last - first + 36, rx: 6, class: "part" };
  const middle = (first + last) / 2;
  const [right, lower] = shines ? [8, 26] : [48, 4];
  return [
    drawn("rect", box),
    ...(shines ? [drawn("circle", { cx: LIGHT + 88, cy: middle, r: 8, class: "lamp" })] : []),
    text(name, LIGHT + right, middle + lower, {}),
    ...ends,
  ];
}

function drawn(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

function text(
  words: string,
  x: number,
  y: number,
  more: Readonly<Record<string, string>>,
): SVGElement {
  const element = drawn("text", { x, y, ...more });
  element.textContent = words;
  return element;
}
