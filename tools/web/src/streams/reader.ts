// The page's end of the worker that reads a file.

import { DataError } from "./data_error";
import { texts } from "../texts";
import type { Stream } from "./stream";

export interface ReaderOrder {
  readonly name: string;
  readonly file: Blob;
  readonly label: string | undefined;
  readonly drop: readonly string[]; // columns that are left out
}

export type ReaderAnswer =
  | { readonly share: number }
  | { readonly stream: Stream }
  | { readonly refused: string };

/** The reading was stopped. */
export class StoppedError extends Error {}

/** Read a file; `progress` gets the share that is read. Throws DataError, StoppedError. */
export function readFile(
  order: ReaderOrder,
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<Stream> {
  const worker = new Worker("reader.js", { type: "module", name: texts.language });
  return new Promise<Stream>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new StoppedError()));
    worker.onerror = (event) => reject(new DataError(event.message || "reader.js"));
    worker.onmessage = ({ data }: MessageEvent<ReaderAnswer>) => {
      if ("share" in data) progress(data.share);
      else if ("stream" in data) resolve(data.stream);
      else reject(new DataError(data.refused));
    };
    if (signal.aborted) reject(new StoppedError());
    else worker.postMessage(order);
  }).finally(() => worker.terminate());
}
