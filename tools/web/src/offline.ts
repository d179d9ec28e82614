// The service worker: keeps all of the page's files, so that the page works without a network.

/// <reference lib="webworker" />

declare const FILES: readonly string[]; // set by bundle.mjs
declare const VERSION: string; // changes with the contents

const scope = self as unknown as ServiceWorkerGlobalScope;
const CACHE = `microshrub-${VERSION}`;

scope.addEventListener("install", (event) => {
  const everything = ["./", ...FILES].map((file) => new Request(file, { cache: "reload" }));
  const kept = caches.open(CACHE).then((cache) => cache.addAll(everything));
  event.waitUntil(kept.then(() => scope.skipWaiting()));
});

scope.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => scope.clients.claim()));
});

scope.addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(answer(event.request));
});

async function forgetOthers(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith("microshrub-") && name !== CACHE) await caches.delete(name);
  }
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}
