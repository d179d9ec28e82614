// Classes that get their names on the board: the novel samples, and the actions on a class.

import { choice, field, make, panel } from "../dom";
import type { BoardLink } from "../link/board_link";
import { Classes } from "../link/classes";
import { texts } from "../texts";

const words = texts.naming;

export class Naming {
  readonly element: HTMLElement;
  private readonly novel = make("p", { id: "naming-novel", role: "status" });
  private readonly name = make("input", { id: "naming-text", type: "text", maxlength: "48" });
  private readonly which = choice("naming-class", []);
  private readonly into = choice("naming-into", []);
  private classes: Classes | null = null;
  private known = "";

  /** `changed` gets new names; `failed` gets the reason for an error. */
  constructor(
    private readonly changed: (shown: readonly (readonly [number, string])[]) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.element = panel(
      words.title,
      this.novel,
      field(words.name, this.name, this.button("name", (c) => c.name(this.name.value.trim()))),
      this.button("dismiss", (c) => c.dismiss()),
      field(
        words.which,
        this.which,
        this.button("rename", (c) => c.rename(chosen(this.which), this.name.value.trim())),
        this.button("forget", (c) => c.forget(chosen(this.which))),
      ),
      field(
        words.into,
        this.into,
        this.button("merge", (c) => c.merge(chosen(this.which), chosen(this.into))),
      ),
    );
    this.element.hidden = true;
  }

  /** Begin with a board; the panel is hidden if no class can get a name. */
  begin(link: BoardLink): void {
    this.classes = link.configuration.spare_classes ? new Classes(link) : null;
    this.known = "";
    this.which.replaceChildren();
    this.element.hidden = this.classes === null;
  }

  /** Read the names from the board, and show them. */
  async show(): Promise<void> {
    const now = await this.classes?.refresh();
    if (!now || !this.classes) return;
    this.novel.textContent = words.novel(now.novel, now.novel >= now.collect);
    const { names } = this.classes;
    const shown = this.classes.shown.map((c) => [c, names[c]!] as const);
    if (this.known === JSON.stringify(shown)) return;
    this.known = JSON.stringify(shown);
    const items = shown.map(([c, name]) => make("option", { value: String(c) }, name));
    const isFirst = !this.which.options.length;
    for (const list of [this.which, this.into]) {
      const before = list.value;
      list.replaceChildren(...items.map((item) => item.cloneNode(true)));
      if (!isFirst) list.value = before; // if the class is gone, none is chosen
    }
    this.changed(shown);
  }

  /** Return the names of the shown classes, and their matrix; null: the names are the program's. */
  matrix(counts: readonly number[]): readonly [readonly string[], readonly number[]] | null {
    if (!this.classes) return null;
    const { names, shown } = this.classes;
    return [shown.map((c) => names[c]!), this.classes.fold(counts)];
  }

  /** Return the name of a predicted class. */
  called(c: number): string | undefined {
    return this.classes?.names[c];
  }

  private button(id: keyof typeof words.do, act: (classes: Classes) => Promise<void>): HTMLElement {
    const button = make("button", { type: "button", id: `naming-${id}` }, words.do[id]);
    button.onclick = () => {
      if (this.classes) void this.do(act, this.classes);
    };
    return button;
  }

  private async do(act: (classes: Classes) => Promise<void>, classes: Classes): Promise<void> {
    try {
      await act(classes);
      await this.show();
    } catch (error) {
      this.failed(error);
    }
  }
}

/** Return the class chosen in a list. Throws if there is none, as the chosen class is gone. */
function chosen(list: HTMLSelectElement): number {
  if (!list.value) throw new Error(words.none);
  return Number(list.value);
}
