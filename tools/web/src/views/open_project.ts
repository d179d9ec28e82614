// A button that opens the file of a project.

import { make } from "../dom";
import type { SensorKind } from "../page_data";
import { readProject, type Project } from "../project";
import { texts } from "../texts";

export class OpenProject {
  readonly button = make("button", { type: "button", class: "plain" }, texts.teach.open);
  readonly file = make("input", { type: "file", id: "project", accept: ".mshrub", hidden: true });

  /** `kinds` are the sensors that the page knows; `failed` is told why a file could not be read, or its project not opened. */
  constructor(
    private readonly kinds: readonly SensorKind[],
    private readonly opened: (project: Project) => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {
    this.button.onclick = () => this.file.click();
    this.file.onchange = () => void this.read();
  }

  /** The same file can be chosen again. */
  forget(): void {
    this.file.value = "";
  }

  private async read(): Promise<void> {
    const file = this.file.files?.[0];
    if (!file) return;
    try {
      await this.opened(await readProject(file, this.kinds));
    } catch (error) {
      this.failed(error);
    }
  }
}
