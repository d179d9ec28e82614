// Steps that have to wait, for a sensor or for what is still to be learned: one at a time.

export class Steps {
  private newest: Promise<void> = Promise.resolve();
  private isWaiting = false;

  /** `changed` is called when one begins and when it has ended. */
  constructor(private readonly changed: () => void) {}

  /** Whether a step is under way: no other one may begin. */
  get busy(): boolean {
    return this.isWaiting;
  }

  /** Do a step; `failed` is told why it could not be done. */
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

  /** Do it when the step that is under way has ended. */
  async doNext(step: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
    while (this.isWaiting) await this.newest;
    await this.do(step, failed);
  }
}
