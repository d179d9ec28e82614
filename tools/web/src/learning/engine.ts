// The page's end of the worker: one learner in a MicroPython of its own.

import { loadLibrary, PAGE, type Parameters } from "../page_data";
import type { Answer, Answers, Buffer, Orders, Prediction, Saved, Status } from "./messages";

/** The learner refused its parameters, or MicroPython cannot go on; the message is for people. */
export class EngineError extends Error {}

export class Engine {
  private waiting: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly worker: Worker,
    readonly buffers: readonly Buffer[],
  ) {}

  /** Start a fresh learner of that class; `percent` is the coverage of its prediction sets, 0: no sets. */
  static async start(learnerClass: string, parameters: Parameters, percent = 0): Promise<Engine> {
    const library = await loadLibrary(PAGE);
    const worker = new Worker("worker.js", { type: "module" });
    try {
      const { buffers } = await ask(worker, "create", { library, learnerClass, parameters, percent });
      return new Engine(worker, buffers);
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  /** Reset the learner, with these parameters or the former ones; windows go on. */
  anew(parameters?: Parameters): Promise<null> {
    return this.order("anew", { parameters });
  }

  /** Fit the quantizer to these rows, and freeze it. */
  observe(rows: Int32Array): Promise<null> {
    return this.order("observe", { rows });
  }

  /** Predict and learn rows one by one. */
  learn(rows: Int32Array, labels: Uint8Array): Promise<Status> {
    return this.order("learn", { rows, labels });
  }

  /** Return the predicted classes of unlabelled rows. */
  ask(rows: Int32Array): Promise<Uint8Array> {
    return this.order("ask", { rows });
  }

  predict(row: Int32Array): Promise<Prediction> {
    return this.order("predict", { row });
  }

  /** Make samples from windows over readings. */
  window(order: Orders["windows"]): Promise<null> {
    return this.order("windows", order);
  }

  /** Note missing readings: no sample spans the gap. */
  restartWindow(): Promise<null> {
    return this.order("restart", {});
  }

  /** Return the samples made of readings: values of 16 bits, the high byte first. */
  samplesOf(data: Uint8Array): Promise<Int32Array> {
    return this.order("readings", { data });
  }

  /** Return the checksum of a board's self-test with a learner like this fresh one. */
  selftest(): Promise<number> {
    return this.order("selftest", {});
  }

  /** Return the states, and the modules that the learner needs. */
  saved(): Promise<Saved> {
    return this.order("finish", {});
  }

  stop(): void {
    this.worker.terminate();
  }

  private order<Name extends keyof Orders>(name: Name, payload: Orders[Name]): Promise<Answers[Name]> {
    const answer = this.waiting.then(() => ask(this.worker, name, payload));
    this.waiting = answer.catch(() => undefined);
    return answer;
  }
}

function ask<Name extends keyof Orders>(
  worker: Worker,
  name: Name,
  payload: Orders[Name],
): Promise<Answers[Name]> {
  return new Promise((resolve, reject) => {
    worker.onmessage = (event: MessageEvent<Answer>) => {
      if ("refused" in event.data) reject(new EngineError(event.data.refused));
      else resolve(event.data.result as Answers[Name]);
    };
    worker.onerror = (event) => reject(new EngineError(event.message || "worker.js"));
    worker.postMessage({ name, payload });
  });
}
