"""How a Page looks, and the script that sorts its tables. Both stand in the page as they are."""

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d1f23; --quiet: #5d626b;
  --rule: #d8dbe1; --shade: #f4f5f7; --strong: #0a58ca; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #15171b; --ink: #e3e5e9; --quiet: #9aa0aa; --rule: #363a42; --shade: #1e2126;
    --strong: #8ab4f8; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1, h2, p, figcaption { max-width: 42rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 1.5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.75rem 0 .75rem; }
p { margin: .75rem 0; }
pre { background: var(--shade); border-radius: 4px; padding: .75rem 1rem; margin: 1rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem;
  font-family: ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; }
.wide { overflow-x: auto; margin: 1rem 0; width: fit-content; max-width: 100%; }
.wide:focus-visible, button:focus-visible { outline: 2px solid var(--strong); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--rule); }
thead th { vertical-align: bottom; padding-top: 0; border-bottom: 1px solid var(--quiet); }
th:first-child, td:first-child { padding-left: .2rem;
  min-width: calc(1.15 * var(--word) + 1rem); max-width: 24rem;
  overflow-wrap: anywhere; position: sticky; left: 0; background: var(--paper); }
.n { text-align: right; }
td.n { white-space: nowrap; }
strong { color: var(--strong); }
th button { all: unset; cursor: pointer; color: var(--quiet); font-size: .8rem; font-weight: 600;
  line-height: 1.25; }
th button:hover, th[aria-sort] button { color: var(--ink); }
th button::after { content: "\\2191"; visibility: hidden; padding-left: .2em; }
.n button::after { padding-left: 0; margin-right: -.8em; }
th[aria-sort] button::after { visibility: visible; }
th[aria-sort=descending] button::after { content: "\\2193"; }
tbody tr:hover td { background: var(--shade); }
figure { margin: 1.5rem 0; }
figure svg { display: block; max-width: 100%; height: auto; overflow: visible;
  stroke-linejoin: round; stroke-linecap: butt; }
figure svg text { font-family: inherit !important; fill: currentColor; }
figcaption { color: var(--quiet); font-size: .9rem; margin-top: .5rem; }
footer { margin-top: 3.5rem; border-top: 1px solid var(--rule); }
footer h2 { margin-top: 1.5rem; }
footer th { font-weight: normal; color: var(--quiet); }
@media (max-width: 40rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.4rem; }
  th, td { padding: .3rem .5rem; }
  th:first-child, td:first-child { max-width: 9rem; font-size: .8rem; } }
@media print {
  :root { color-scheme: light; }
  main { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  .wide { overflow: visible; }
  table { font-size: .8rem; }
  th, td { padding: .15rem .4rem; }
  th button::after { content: none; }
  figure, tr, pre { break-inside: avoid; }
  h1, h2 { break-after: avoid; } }
"""

# A head sorts upwards, and at the next click downwards; numbers stand before texts, and both
# before what is missing.
SCRIPT = """
document.addEventListener("click", (event) => {
  const button = event.target.closest("th button");
  if (!button) return;
  const head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const keyed = Array.from(body.rows, (row) => {
    const cell = row.cells[head.cellIndex], text = cell.textContent;
    const number = cell.dataset.number;
    return { row, text, number: Number(number), kind: number ? 0 : text.length > 1 ? 1 : 2 };
  });
  keyed.sort((a, b) => a.kind - b.kind || sign * (a.kind ? a.text.localeCompare(b.text)
    : a.number - b.number));
  body.append(...keyed.map((key) => key.row));
});
"""
