// Steps that have to wait, for a sensor or for learning: one at a time.

export class Steps {
  private newest: Promise<void> = Promise.resolve();
  private isWaiting = false;

  /** `changed` is called when a step begins and when it has ended. */
  constructor(private readonly changed: () => void) {}

  /** Whether a step is running, so that no other one may begin. */
  get busy(): boolean {
    return this.isWaiting;
  }

  /** Do a step; `failed` gets the reason for an error. */
  do(step: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
    const wait = (isWaiting: boolean): void => {
      this.isWaiting = isWaiting;
      this.changed();
    };
    wait(true);
    this.newest = step()
      .catch(failed)
      .finally(() => wait(false));
    return this.newest;
  }

  /** Do a step when the running one has ended. */
  async doNext(step: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
    while (this.isWaiting) await this.newest;
    await this.do(step, failed);
  }
}
