// Leaving the page, by a reload, a link or closing the tab, loses data that no file has.

/** Have the browser ask first, with its own text, while data are unsaved. */
export function askBeforeLeaving(unsaved: () => boolean): void {
  addEventListener("beforeunload", (event) => {
    if (!unsaved()) return;
    event.preventDefault();
    event.returnValue = true; // for browsers from before 2023
  });
}
