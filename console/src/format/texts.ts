/** Text of others (of events, answers, names) is only ever text. These functions cut it and make its invisible characters visible. */
// Controls, zero-width characters, direction overrides and the byte order mark. Line breaks and tabs stay.
// oxlint-disable-next-line no-control-regex -- these are the characters to show
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function visible(text: string): string {
  return text.replace(INVISIBLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `dlv_…hb7n3d`: the beginning of an id is time and alike, the end tells ids apart. */
export function shortId(id: string): string {
  const mark = id.indexOf('_');
  if (mark < 1 || mark > 4 || id.length <= 16) return id;
  return `${id.slice(0, mark + 1)}…${id.slice(-6)}`;
}

/** Ids that people chose are never cut before 24 characters. */
export function cutText(text: string, most = 24): string {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

/** A URL is cut in the middle: its host and its end tell it from others. */
export function cutUrl(url: string, most = 48): string {
  if (url.length <= most) return url;
  const end = Math.floor(most / 3);
  return `${url.slice(0, most - end - 1)}…${url.slice(-end)}`;
}

/** The host of a URL; the text itself when it is none. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
