/** The part of MicroPython's WebAssembly port that the page uses. */
export interface MicroPython {
  readonly FS: {
    mkdir(path: string): void;
    writeFile(path: string, data: Uint8Array): void;
    readFile(path: string): Uint8Array<ArrayBuffer>;
    analyzePath(path: string): { exists: boolean };
  };
  runPython(source: string): unknown;
  pyimport(name: string): unknown;
  registerJsModule(name: string, module: object): void;
}

export function loadMicroPython(options: { heapsize: number }): Promise<MicroPython>;
