// A browser in the locale C or POSIX names no language, and uPlot, which formats numbers in the
// browser's language as soon as it is imported, would end the page. Imported before all else.

function isLanguage(name: string): boolean {
  try {
    return new Intl.NumberFormat(name) !== null;
  } catch {
    return false; // a RangeError
  }
}

if (!isLanguage(navigator.language)) {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true });
}

export {};
