// Types that the page and its worker share, and those of what Emscripten makes.

export interface NamedFile {
  name: string;
  data: Blob;
}
/** For the worker. `part` of the program: "program" or "export". */
export interface Job {
  part: string;
  module: WebAssembly.Module;
  words: string[];
  files: NamedFile[];
}
/** From the worker: any number of the first two, then one of the third. */
export type Answer = { output: Uint8Array<ArrayBuffer> } | { message: string } | { code: number; files: NamedFile[] };

/** A file system in memory, as far as it is used. */
export interface FilesInMemory {
  makedev(major: number, minor: number): number;
  registerDevice(device: number, operations: object): void;
  mkdev(path: string, device: number): void;
  getStream(descriptor: number): object;
  open(path: string, flags: number): object;
  close(stream: object): void;
  readdir(path: string): string[];
  lstat(path: string): { mode: number };
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
  lookupPath(path: string): { node: { contents: Uint8Array<ArrayBuffer>; usedBytes: number } };
  mkdir(path: string): void;
  mount(kind: object, facts: { blobs: NamedFile[] }, path: string): void;
  symlink(target: string, path: string): void;
  chdir(path: string): void;
}

/** A service worker, as far as it is used. */
export interface OfflineWorker {
  readonly location: Location;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(kind: 'install' | 'activate', f: (event: { waitUntil(work: Promise<unknown>): void }) => void): void;
  addEventListener(kind: 'fetch', f: (event: { request: Request; respondWith(answer: Promise<Response>): void }) => void): void;
}

declare global {
  function makeProgram(settings: object): Promise<{ FS: FilesInMemory; WORKERFS: object; callMain(words: string[]): number }>;
  function importScripts(...addresses: string[]): void;
}
