// The worker that reads a file, so that the page stays responsive however large the file is.

/// <reference lib="webworker" />

import type { ReaderAnswer, ReaderOrder } from "./reader";
import { readStream } from "./stream";

const EVERY = 100; // milliseconds between two reports of progress

function answer(message: ReaderAnswer, transfer: Transferable[] = []): void {
  (self as unknown as DedicatedWorkerGlobalScope).postMessage(message, transfer);
}

self.onmessage = async ({ data }: MessageEvent<ReaderOrder>) => {
  let last = 0;
  const progress = (share: number): void => {
    if (performance.now() - last < EVERY) return;
    last = performance.now();
    answer({ share });
  };
  try {
    const { name, file, label, drop } = data;
    const stream = await readStream(name, file, { label, drop, progress });
    answer({ stream }, [stream.rows.buffer as ArrayBuffer, stream.labels.buffer as ArrayBuffer]);
  } catch (error) {
    answer({ refused: error instanceof Error ? error.message : String(error) });
  }
};
