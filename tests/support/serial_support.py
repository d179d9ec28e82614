"""WebSerial in a page, as a browser has it, for a headless one that has no devices.

https://wicg.github.io/serial/
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from browser_support import Browser

# A port whose bytes go through a WebSocket. As in Chromium a device that was plugged in again is
# another object, and one that is lost ends its streams and says so.
_SCRIPT = """
(() => {
  class Device extends EventTarget {
    readable = null;
    writable = null;
    getInfo() { return { usbVendorId: 0x2e8a, usbProductId: 5 }; }
    async setSignals() {}
    async open() {
      const socket = new WebSocket("ADDRESS");
      socket.binaryType = "arraybuffer";
      let from;
      await new Promise((resolve, reject) => {
        socket.onclose = () => reject(new DOMException("Failed to open.", "NetworkError"));
        this.readable = new ReadableStream({
          start(controller) {
            from = controller;
            socket.onmessage = ({ data }) =>
              typeof data === "string" ? resolve() : controller.enqueue(new Uint8Array(data));
          },
        });
      });
      this.writable = new WritableStream({ write: (data) => socket.send(data) });
      const closed = new Promise((resolve) => {
        socket.onclose = () => { this.lost(from); resolve(); };
      });
      this.close = async () => {
        if (this.readable?.locked || this.writable?.locked) throw new TypeError("locked");
        this.lost = () => undefined;
        socket.close();
        await closed;
        this.readable = this.writable = null;
      };
    }
    lost(from) {
      current = new Device();
      this.readable = this.writable = null;
      from.error(new DOMException("The device has been lost.", "NetworkError"));
      this.dispatchEvent(new Event("disconnect"));
    }
  }
  let current = new Device();
  Object.defineProperty(navigator, "serial", {
    value: { requestPort: async () => current, getPorts: async () => [current] },
  });
})();
"""


@contextlib.contextmanager
def serial_port(page: Browser, address: str) -> Iterator[None]:
    """Let the pages that are opened meanwhile have one port, behind a bridge's address."""
    source = _SCRIPT.replace("ADDRESS", address)
    made = page.call("Page.addScriptToEvaluateOnNewDocument", source=source)
    yield
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=made["identifier"])
