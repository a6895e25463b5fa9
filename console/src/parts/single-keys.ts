/** The profile can switch single keys off (WCAG 2.1.4); the browser remembers it under this name. */
export const SHORTCUTS_OFF = 'millrace-single-keys-off';
