// Elements of the page. Texts are always set as texts, never as HTML.

type Child = Node | string;

/** Make an element with attributes and children; `class` and the like are attributes. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | boolean>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Make a form's field under its label. */
export function field(label: string, control: HTMLElement, ...more: readonly Child[]): HTMLElement {
  return make("div", { class: "field" }, make("label", { for: control.id }, label), control, ...more);
}

/** Make a list of choices: [value, text]. */
export function choice(id: string, items: readonly (readonly [string, string])[]): HTMLSelectElement {
  return make("select", { id }, ...optionsOf(items));
}

/** Make a list of choices in groups: [label, items]. */
export function groupedChoice(
  id: string,
  groups: readonly (readonly [string, readonly (readonly [string, string])[]])[],
): HTMLSelectElement {
  const made = groups.map(([label, items]) => make("optgroup", { label }, ...optionsOf(items)));
  return make("select", { id }, ...made);
}

function optionsOf(items: readonly (readonly [string, string])[]): HTMLOptionElement[] {
  return items.map(([value, text]) => make("option", { value }, text));
}

/** Make a part of the page with a heading. */
export function panel(title: string, ...children: readonly Child[]): HTMLElement {
  return make("section", { class: "panel" }, make("h3", {}, title), ...children);
}

/** Make a table; the first cell of a row is its heading. The cell above the headings may be empty. */
export function table(head: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const cells = (row: readonly Child[]): HTMLElement[] =>
    row.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, cell));
  const top = head.map((text) => (text ? make("th", { scope: "col" }, text) : make("td")));
  return make(
    "table",
    {},
    ...(head.length ? [make("thead", {}, make("tr", {}, ...top))] : []),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row)))),
  );
}
