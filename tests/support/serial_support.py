"""WebSerial for a headless browser without devices.

https://wicg.github.io/serial/
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from browser_support import Browser

# A port whose bytes go through a WebSocket. As in Chromium, a device that is plugged in again is
# another object, and a lost device ends its streams and fires an event.
_SCRIPT = """
(() => {
  class Device extends EventTarget {
    readable = null;
    writable = null;
    getInfo() { return { usbVendorId: VENDOR, usbProductId: PRODUCT }; }
    async setSignals(signals) {
      if (this.tell) this.tell(signals);
    }
    async open({ baudRate }) {
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
      this.tell = SIGNALS && ((message) => socket.send(JSON.stringify(message)));
      if (this.tell) this.tell({ baudRate });
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
def serial_port(
    page: Browser, address: str, *, signals: bool = False, usb: tuple[int, int] = (0x2E8A, 5)
) -> Iterator[None]:
    """Give the pages that are opened within the block one port, at a bridge's address.

    With `signals`, the rate and the changes of DTR and RTS are sent as texts. `usb` has the vendor
    number and the product number.
    """
    settings = {"ADDRESS": address, "SIGNALS": str(signals).lower()}
    settings |= {"VENDOR": str(usb[0]), "PRODUCT": str(usb[1])}
    source = _SCRIPT
    for name, value in settings.items():
        source = source.replace(name, value)
    with page.before_pages(source):
        yield
