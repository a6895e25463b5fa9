/** Text of events on one line of a terminal: no escape sequence, line break or direction override of a sender takes effect. */
// oxlint-disable-next-line no-control-regex -- these are the characters to show
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** In JSON these escapes are the same value. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
