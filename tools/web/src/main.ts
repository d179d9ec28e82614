// The page: one path of three steps, and the service worker that keeps it for use offline.

import "./locale"; // first
import { make } from "./dom";
import { readKept } from "./learning/autosave";
import { loadPageData } from "./page_data";
import { LANGUAGES, texts } from "./texts";
import { BlankBoard } from "./views/blank_board";
import { HandOver } from "./views/hand_over";
import { Playground } from "./views/playground";
import { LossDialog } from "./views/loss_dialog";
import { Teach } from "./views/teach";
import { Watch } from "./views/watch";

async function show(main: HTMLElement, path: HTMLElement): Promise<void> {
  const loading = make("p", { role: "status" }, texts.loading);
  main.append(loading);
  const [data, kept] = await Promise.all([loadPageData(), readKept()]).finally(() => loading.remove());
  const blank = new BlankBoard(data.boards);
  let hand!: HandOver;
  const loss = new LossDialog();
  const teach = new Teach(data, (...callbacks) => (hand = new HandOver(data, blank.element, ...callbacks)));
  const playground = new Playground(data);
  const watch = new Watch(() => playground.openStream(), loss);
  const steps = [
    step("teach", texts.teach, teach.element),
    step("board-step", texts.handOver, hand.element),
    step("playground", texts.playground, playground.element, watch.element),
  ];
  main.append(...steps, loss.element);
  if (kept) teach.resume(kept);
  const openLinked = async (): Promise<void> => {
    if (!location.hash.startsWith("#project=")) return;
    const linked = await (await import("./project_link")).linkedProject();
    teach.openFile(linked);
  };
  await openLinked();
  addEventListener("hashchange", () => void openLinked());
  path.append(make("ol", {}, ...steps.map((each) => make("li", {}, wayTo(each)))));
}

/** Make a step of the path, with its heading. */
function step(
  id: string,
  { title, lead }: { readonly title: string; readonly lead: string },
  ...parts: readonly HTMLElement[]
): HTMLElement {
  const heading = make("h2", { id: `${id}-title`, tabindex: "-1" }, title);
  const about = make("p", { class: "lead" }, lead);
  return make("section", { id, "aria-labelledby": heading.id }, heading, about, ...parts);
}

/** Make a link to a step; the address keeps its part after the #. */
function wayTo(section: HTMLElement): HTMLElement {
  const heading = section.querySelector("h2")!;
  const link = make("a", { href: `#${heading.id}` }, heading.textContent);
  link.onclick = (event) => {
    event.preventDefault();
    heading.focus({ preventScroll: true });
    section.scrollIntoView();
  };
  return link;
}

/** Make links to the page in other languages, which keep the address's part after the #. */
function languageLinks(): HTMLElement {
  const others = LANGUAGES.filter(([name]) => name !== texts.language).map(([name, called]) =>
    make("a", { href: `?lang=${name}${location.hash}`, lang: name, hreflang: name }, called),
  );
  return make("p", {}, ...others);
}

document.documentElement.lang = texts.language;
const main = make("main", {});
const path = make("nav", { "aria-label": texts.path });
document.body.append(
  make("header", {}, make("h1", {}, texts.title), path, languageLinks()),
  main,
  make(
    "footer",
    {},
    make("p", {}, texts.lead),
    make("p", {}, texts.offline),
    make("p", {}, make("a", { href: "lesson.html", hreflang: "en" }, texts.lesson)),
    make("p", {}, make("a", { href: "licenses.txt" }, texts.licenses)),
  ),
);
if (typeof WebAssembly === "object" && typeof Worker === "function") {
  show(main, path).catch((error: unknown) => {
    main.append(make("p", { class: "bad", role: "alert" }, texts.failed(String(error))));
  });
} else {
  main.append(make("p", { class: "bad", role: "alert" }, texts.browser));
}
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register("offline.js").catch(() => undefined); // the page only works online
}
