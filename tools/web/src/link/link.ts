// The page's end of the serial link: each request is carried out once and in order, or the caller
// gets the reason. See docs/reference/link.md. The link waits for a lost line.

import { decodeFrame, encodeFrame, Splitter, type Frame } from "./frames";
import { drawnSession, helloLine, RESTART, showsPrompt } from "./prompt";
import { LINK } from "../shared";

const FROM_DEVICE = 128;
const WORDS = 65536; // sequence numbers
const REOPENINGS = 10; // reopenings of the line in a row, without an answer

/** The part of a port that the link uses; see Port. */
export interface Carrier {
  take: (data: Uint8Array) => void;
  readonly gone: Promise<string>;
  write(data: Uint8Array): Promise<void>;
  reopen(milliseconds: number): Promise<void>;
}

/** Called with the reason when the line is lost, and with null when it is back. */
export type Interrupted = (why: string | null) => void;

/** Times in milliseconds. */
export interface Times {
  readonly first: number; // without an answer, until requests are sent again
  readonly longest: number; // the longest such time
  readonly giveUp: number;
  readonly reopen: number; // until a lost line is given up
}

export const TIMES: Times = { first: 500, longest: 1000, giveUp: 10_000, reopen: 60_000 };

/** The session is over; `code` is the reason. */
export class LinkError extends Error {
  constructor(
    readonly code: "silent" | "reset" | "version" | "lost",
    message: string = code,
  ) {
    super(message);
  }
}

/** The device refused a request, for the reason in the message. */
export class RefusedError extends Error {}

export interface Welcome {
  readonly configuration: number; // CRC32 of the text of config.json
  readonly features: number;
  readonly classes: number;
}

interface Waiting {
  readonly number: number;
  readonly frame: Uint8Array;
  readonly resolve: (answer: Frame) => void;
  readonly reject: (error: Error) => void;
  answered: boolean;
  resent: boolean;
}

export class Link {
  /** Called with each observation. */
  observed: (frame: Frame) => void = () => undefined;
  private session = 0;
  private next = 1; // number of the next request
  private credits = 1;
  private sent: Waiting[] = []; // from the oldest unanswered one on
  private queue: Waiting[] = []; // not sent yet
  private timer: ReturnType<typeof setTimeout> | undefined;
  private patience: number;
  private heard = performance.now();
  private isOpen = false; // whether the session is open
  private isGreeting = false; // hello was sent to a reopened line: no other request is sent
  private isDown = false; // whether the line is lost
  private reopened = 0; // reopenings since the last answer
  private greeted: (answer: Frame) => void = () => undefined; // called with the answer to a hello
  private over: LinkError | null = null;
  private splitter = new Splitter((piece) => this.take(piece));

  private constructor(
    private readonly port: Carrier,
    private readonly interrupted: Interrupted,
    private readonly times: Times,
  ) {
    this.patience = times.first;
    port.take = (data) => this.splitter.feed(data);
    this.watch();
  }

  /** Send hello until the device answers. A stopped program is started. */
  static async open(
    port: Carrier,
    interrupted: Interrupted = () => undefined,
    times: Times = TIMES,
  ): Promise<[Link, Welcome]> {
    const link = new Link(port, interrupted, times);
    for (;;) {
      link.session = drawnSession();
      const view = new DataView((await link.hello()).payload.buffer);
      if (view.byteLength < 12 || view.getUint16(10, true) !== 1) continue; // the number is in use
      link.isOpen = true;
      const configuration = view.getUint32(0, true);
      const [features, classes] = [view.getUint16(4, true), view.getUint16(6, true)];
      return [link, { configuration, features, classes }];
    }
  }

  /** Send a request; resolve with the answer. Rejects with RefusedError or LinkError. */
  request(type: number, payload: Uint8Array<ArrayBuffer> = new Uint8Array()): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.over) return reject(this.over);
      const number = this.next;
      this.next = (this.next + 1) % WORDS;
      const frame = encodeFrame({ type, session: this.session, number, credits: 0, payload });
      this.queue.push({ number, frame, resolve, reject, answered: false, resent: false });
      this.push();
    });
  }

  /** The number of requests that wait for an answer. */
  get pending(): number {
    return this.sent.length + this.queue.length;
  }

  /** The reason for the session's end; null before. */
  get ended(): LinkError | null {
    return this.over;
  }

  close(): void {
    this.end(new LinkError("lost"));
  }

  private async hello(): Promise<Frame> {
    this.heard = performance.now();
    const answer = new Promise<Frame>((resolve) => (this.greeted = resolve));
    for (;;) {
      if (performance.now() - this.heard > this.times.giveUp) this.end(new LinkError("silent"));
      if (this.over) throw this.over;
      this.sayHello();
      const late = new Promise<null>((resolve) => setTimeout(resolve, this.times.first, null));
      const frame = await Promise.race([answer, late]);
      if (frame) return frame;
      if (this.isDown) this.heard = performance.now();
    }
  }

  private sayHello(): void {
    if (this.isDown) return;
    if (showsPrompt(this.splitter.unfinished)) {
      this.splitter = new Splitter((piece) => this.take(piece));
      void this.port.write(RESTART);
    }
    void this.port.write(helloLine(this.session));
  }

  // The line

  private watch(): void {
    void this.port.gone.then((why) => this.reopen(why));
  }

  /** Wait until the line is back, and send hello to the open session before any other request. */
  private async reopen(why: string): Promise<void> {
    if (this.over) return;
    clearTimeout(this.timer);
    this.isDown = true;
    this.interrupted(why);
    try {
      if (++this.reopened > REOPENINGS) throw new Error(why);
      await this.port.reopen(this.times.reopen);
    } catch (error) {
      return this.end(new LinkError("lost", error instanceof Error ? error.message : String(error)));
    }
    this.isDown = false;
    this.heard = performance.now();
    this.patience = this.times.first;
    this.splitter = new Splitter((piece) => this.take(piece));
    this.watch();
    this.interrupted(null);
    if (!this.isOpen || this.over) return;
    this.isGreeting = true;
    this.greeted = (answer) => this.goOn(answer);
    this.sayHello();
    this.wait();
  }

  /** Continue at the device's place, if that is in this session. */
  private goOn(answer: Frame): void {
    this.isGreeting = false;
    const view = new DataView(answer.payload.buffer);
    const waitsFor = answer.type === LINK.WELCOME ? view.getUint16(10, true) : -1;
    const oldest = (this.sent[0] ?? this.queue[0])?.number ?? this.next;
    const ahead = (waitsFor - oldest + WORDS) % WORDS;
    if (waitsFor < 0 || ahead > this.sent.length) return this.end(new LinkError("reset"));
    this.sendAgain(oldest);
    this.push();
  }

  private write(frame: Uint8Array): void {
    if (!this.isDown && !this.isGreeting) void this.port.write(frame);
  }

  // Receiving and sending

  private take(piece: Uint8Array): void {
    const frame = decodeFrame(piece);
    if (!frame || frame.type < FROM_DEVICE) return;
    const code = frame.type === LINK.ERROR ? (frame.payload[0] ?? 0) : 0;
    if (code === LINK.OTHER_VERSION) return this.end(new LinkError("version"));
    if (frame.session !== this.session || this.over) return;
    if (frame.type === LINK.OBSERVED) return this.observed(frame);
    this.heard = performance.now();
    this.patience = this.times.first;
    if (frame.type === LINK.AGAIN) return this.sendAgain(frame.number);
    this.reopened = 0;
    if (frame.type === LINK.WELCOME || code === LINK.USED_SESSION) return this.welcomed(frame);
    if (code === LINK.NO_SESSION) return this.isOpen ? this.end(new LinkError("reset")) : undefined;
    this.answer(frame, code);
  }

  private welcomed(frame: Frame): void {
    const { greeted } = this;
    this.greeted = () => undefined; // once
    greeted(frame);
  }

  private answer(frame: Frame, code: number): void {
    const place = this.sent.findIndex(({ number }) => number === frame.number);
    const waiting = this.sent[place];
    if (!waiting) return;
    this.credits = Math.max(frame.credits, 1);
    if (!waiting.answered) {
      waiting.answered = true;
      if (!code) waiting.resolve(frame);
      else waiting.reject(new RefusedError(new TextDecoder().decode(frame.payload.subarray(1))));
    }
    for (const earlier of this.sent.slice(0, place)) {
      if (earlier.answered || earlier.resent) continue;
      earlier.resent = true; // answers arrive in order: this one's was lost
      this.write(earlier.frame);
    }
    while (this.sent[0]?.answered) this.sent.shift();
    this.push();
  }

  private sendAgain(from: number): void {
    for (const waiting of this.sent) {
      const isLate = (waiting.number - from + WORDS) % WORDS < WORDS / 2;
      if (!waiting.answered && isLate) this.write(waiting.frame);
    }
    this.wait();
  }

  private push(): void {
    while (this.queue.length && this.sent.length < this.credits) {
      const waiting = this.queue.shift()!;
      if (!this.sent.length) this.heard = performance.now();
      this.sent.push(waiting);
      this.write(waiting.frame);
    }
    this.wait();
  }

  private wait(): void {
    clearTimeout(this.timer);
    const waits = (this.sent.length || this.isGreeting) && !this.isDown && !this.over;
    if (waits) this.timer = setTimeout(() => this.late(), this.patience);
  }

  private late(): void {
    if (performance.now() - this.heard > this.times.giveUp) {
      return this.end(new LinkError("silent"));
    }
    this.patience = Math.min(2 * this.patience, this.times.longest);
    if (this.isGreeting) this.sayHello();
    for (const waiting of this.sent) {
      waiting.resent = false;
      if (!waiting.answered) this.write(waiting.frame);
    }
    this.wait();
  }

  private end(why: LinkError): void {
    this.over ??= why;
    clearTimeout(this.timer);
    const open = [...this.sent, ...this.queue].filter(({ answered }) => !answered);
    [this.sent, this.queue] = [[], []];
    for (const waiting of open) waiting.reject(this.over);
  }
}
