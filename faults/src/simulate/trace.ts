/** Hashes of a run: `exact` of every event with its time, for replays; `order` of what happened in which order, without times. */
export type Trace = { ran(name: string, at: number): void; note(text: string): void; exact(): string; order(): string };

const FNV_PRIME = 0x01000193;
const FNV_BASIS = 0x811c9dc5;

export function openTrace(): Trace {
  let exact = FNV_BASIS;
  let order = FNV_BASIS;
  return {
    ran(name, at) {
      exact = mix(exact, name);
      exact = Math.imul(exact ^ Math.floor(at * 1_000), FNV_PRIME) >>> 0;
    },
    note(text) {
      exact = mix(exact, text);
      order = mix(order, text);
    },
    exact: () => exact.toString(16),
    order: () => order.toString(16),
  };
}

/** FNV-1a. */
function mix(hash: number, text: string): number {
  let mixed = hash;
  for (let index = 0; index < text.length; index += 1) mixed = Math.imul(mixed ^ text.charCodeAt(index), FNV_PRIME);
  return mixed >>> 0;
}
