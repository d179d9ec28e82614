// The page: its heading, its parts, and the service worker that keeps it for use offline.

import { make } from "./dom";
import { loadPageData } from "./page_data";
import { LANGUAGES, texts } from "./texts";
import { BlankBoard } from "./views/blank_board";
import { Playground } from "./views/playground";
import { Teach } from "./views/teach";
import { Watch } from "./views/watch";

async function show(main: HTMLElement): Promise<void> {
  const data = await loadPageData();
  const playground = new Playground(data);
  const watch = new Watch(() => playground.openStream());
  const blank = new BlankBoard(data.boards);
  main.append(new Teach(data).element, playground.element, watch.element, blank.element);
}

/** The page in another language, with what stands behind the # of its address. */
function languageLinks(): HTMLElement {
  const others = LANGUAGES.filter(([name]) => name !== texts.language).map(([name, called]) =>
    make("a", { href: `?lang=${name}${location.hash}`, lang: name, hreflang: name }, called),
  );
  return make("p", {}, ...others);
}

document.documentElement.lang = texts.language;
const main = make("main", {});
document.body.append(
  make("header", {}, make("h1", {}, texts.title), languageLinks()),
  main,
  make(
    "footer",
    {},
    make("p", {}, texts.lead),
    make("p", {}, texts.offline),
    make("p", {}, make("a", { href: "licenses.txt" }, texts.licenses)),
  ),
);
if (typeof WebAssembly === "object" && typeof Worker === "function") {
  show(main).catch((error: unknown) => {
    main.append(make("p", { class: "bad", role: "alert" }, texts.failed(String(error))));
  });
} else {
  main.append(make("p", { class: "bad", role: "alert" }, texts.browser));
}
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register("offline.js").catch(() => undefined); // it only works online
}
