// The page's end of the link, as a program: node page_link_end.mjs LINK FRAMES
// It writes the requests that link_fuzz/device_end.py expects to standard output, and checks the
// answers on standard input. SIGUSR2 pulls the cable. At the end it prints a report as JSON.

import { Buffer } from "node:buffer";
import process from "node:process";

const { Link, LinkError } = await import(process.argv[2]);
const total = Number(process.argv[3]);
const TIMES = { first: 40, longest: 80, giveUp: 60_000, reopen: 10_000 };
const AWAY = 30; // milliseconds that a pulled cable is unplugged
const AHEAD = 64; // requests that wait for an answer
const MOST = Number(process.argv[4]); // frames until the program restarts
const FACTORS = [1, -1, 40503, -3, 0];
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

class Port {
  take = () => undefined;
  isDown = false;
  constructor() {
    this.plug();
    process.stdin.on("data", (data) => this.isDown || this.take(new Uint8Array(data)));
    process.on("SIGUSR2", () => this.pull());
  }
  plug() {
    this.gone = new Promise((resolve) => (this.lose = resolve));
    this.isDown = false;
  }
  pull() {
    this.isDown = true;
    this.lose("the cable was pulled");
  }
  async reopen() {
    await sleep(AWAY);
    this.plug();
  }
  async write(data) {
    if (!this.isDown) process.stdout.write(Buffer.from(data));
  }
}

/** The type and the payload of request k. */
function requested(k) {
  if (k % 5 === 0) {
    const view = new DataView(new ArrayBuffer(3));
    view.setUint16(0, k % 65536, true);
    view.setUint8(2, k % 7);
    return [5, new Uint8Array(view.buffer)];
  }
  const label = (k % 8) - 1;
  const head = label < 0 ? 0 : 1;
  const view = new DataView(new ArrayBuffer(head + 20));
  if (head) view.setUint8(0, label);
  FACTORS.forEach((factor, f) => view.setInt32(head + 4 * f, (k % 8192) * factor, true));
  return [head ? 4 : 3, new Uint8Array(view.buffer)];
}

function isRight(k, type, frame) {
  if (type === 5) return frame.type === 130;
  const [low, high, predicted, confidence] = frame.payload;
  const id = type === 3 ? k % 65536 : low + 256 * high; // not checked for labelled samples
  const same = low + 256 * high === id && predicted === (3 * k) % 7 && confidence === k % 256;
  return frame.type === 131 && same;
}

async function applied(link) {
  const { payload } = await link.request(6);
  return new DataView(payload.buffer).getInt32(0, true);
}

const counts = { wrong: 0, sessions: 0, resets: 0, pulled: 0 };

/** Continue after the last applied request, until all are done or the program restarts. */
async function session(port) {
  const interrupted = (why) => why && counts.pulled++;
  const [link, welcome] = await Link.open(port, interrupted, TIMES);
  counts.sessions++;
  if (welcome.features !== 5 || welcome.classes !== 7) counts.wrong++;
  const first = await applied(link);
  const answers = [];
  for (let k = first; k < Math.min(total, first + MOST); k++) {
    const [type, payload] = requested(k);
    const answer = link.request(type, payload).then((frame) => {
      if (!isRight(k, type, frame)) counts.wrong++;
    });
    answer.catch(() => undefined); // it is awaited below
    answers.push(answer);
    if (link.pending > AHEAD) await answers[answers.length - AHEAD / 2];
  }
  const isLast = first + MOST >= total;
  if (isLast) await Promise.all(answers);
  link.close(); // else with the window full
  return isLast;
}

const port = new Port();
for (let isDone = false; !isDone; ) {
  try {
    isDone = await session(port);
  } catch (error) {
    if (!(error instanceof LinkError) || error.code !== "reset") throw error;
    counts.resets++;
  }
}
process.stderr.write(JSON.stringify(counts));
process.exit(0);
