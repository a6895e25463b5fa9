/** The profile can switch single keys off (WCAG 2.1.4); the browser remembers it under this name. */
export const SHORTCUTS_OFF = 'millrace-single-keys-off';

/** Whether a pressed key may do something by itself: alone, not typed into a field, and not switched off. */
export function isSingleKey({ metaKey, ctrlKey, altKey, target }: KeyboardEvent): boolean {
  if (metaKey || ctrlKey || altKey || localStorage.getItem(SHORTCUTS_OFF) === 'yes') return false;
  return !(target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable));
}
