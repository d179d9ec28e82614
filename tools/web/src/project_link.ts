// A project in a link: the text after `#project=` opens it on another machine, and no server sees
// that text, since browsers do not send it.

import { PARTS } from "./project";
import { texts } from "./texts";
import { unzip, zip } from "./zip";

const BEGIN = "#project=";
const MOST = 100_000; // letters: longer links are cut off in transit

/** Return a link to this page with a project in it. Rejects with an Error for people if the link is too long. */
export async function linkTo(project: Blob): Promise<string> {
  const parts = unzip(new Uint8Array(await project.arrayBuffer()))!;
  const needed = zip(Object.fromEntries(PARTS.map((name) => [name, parts[name]!])));
  const packed = await through(needed, new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  const letters = btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (letters.length > MOST) throw new Error(texts.link.tooLarge(letters.length, MOST));
  const { origin, pathname, search } = location;
  return origin + pathname + search + BEGIN + letters;
}

/** Return the project in the address's part that begins with #project=, and remove that part. */
export async function linkedProject(): Promise<File> {
  const { hash } = location;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const text = atob(hash.slice(BEGIN.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (mark) => mark.charCodeAt(0));
    const made = await through(new Blob([packed]), new DecompressionStream("deflate-raw"));
    return new File([made], texts.link.name);
  } catch {
    return new File([], texts.link.name); // an empty file, which is no project
  }
}

async function through(data: Blob, change: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(data.stream().pipeThrough(change as ReadableWritablePair)).arrayBuffer());
}
