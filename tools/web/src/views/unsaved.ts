// The page is left, by a reload, a link or its tab's end: what no file has would be lost.

/** Have the browser ask first, in its own words, while something is unsaved. */
export function askBeforeLeaving(unsaved: () => boolean): void {
  addEventListener("beforeunload", (event) => {
    if (!unsaved()) return;
    event.preventDefault();
    event.returnValue = true; // for browsers of before 2023
  });
}
