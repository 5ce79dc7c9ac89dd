/*
 * TypeScript describes WebAssembly only together with the browser's whole interface; this is what is used of it.
 */

/** The memory of a running module; `buffer` is another one after it has grown. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export type WasmCall = (...args: (number | bigint)[]) => number;

/** Imports as the glue code hands them over: one name space of functions. */
export type WasmImports = Readonly<Record<string, Readonly<Record<string, WasmCall>>>>;

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: WasmImports) => WasmInstance;
  readonly Memory: new (...args: never[]) => WasmMemory;
};

/** Compiles and starts a module, at once. */
export function runWasm(bytes: Uint8Array, imports: WasmImports): WasmInstance {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
}

export function exportedMemory(instance: WasmInstance): WasmMemory | undefined {
  return Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
}
