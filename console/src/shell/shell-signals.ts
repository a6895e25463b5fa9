/** A page asks the shell around it to open a layer. */
const target = new EventTarget();

export type Signal = 'palette' | 'menu' | 'keys';

const send = (signal: Signal) => target.dispatchEvent(new Event(signal));

export const openPalette = () => send('palette');
export const openMenu = () => send('menu');
export const openKeys = () => send('keys');

export function onSignal(signal: Signal, listener: () => void): () => void {
  target.addEventListener(signal, listener);
  return () => target.removeEventListener(signal, listener);
}
