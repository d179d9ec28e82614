// The page on a phone: its address as a picture for the phone's camera.

import { make } from "../dom";
import { texts } from "../texts";

const OF_THIS_DEVICE = ["localhost", "127.0.0.1", "[::1]"];
const MARGIN = 4; // modules around the picture, without which cameras do not find it

/** Make the part on how to open the page on a phone; nothing if no phone could. */
export function phonePart(): HTMLElement[] {
  if (OF_THIS_DEVICE.includes(location.hostname)) return [];
  const { href } = new URL(location.pathname + location.search, location.origin);
  const picture = make("canvas", { class: "code", role: "img", "aria-label": texts.phone.picture(href) });
  const part = make(
    "details",
    { id: "phone" },
    make("summary", {}, texts.phone.title),
    make("p", {}, texts.phone.lead),
    picture,
    make("p", {}, make("code", {}, href)),
  );
  part.addEventListener("toggle", () => void draw(picture, href), { once: true });
  return [part];
}

async function draw(picture: HTMLCanvasElement, text: string): Promise<void> {
  const { generate } = await import("lean-qr");
  const white = [255, 255, 255, 255] as const; // in any theme: cameras need dark on light
  generate(text).toCanvas(picture, { off: white, pad: MARGIN });
}
