/** Writes moments as ISO 8601. Calls come many to a second, and writing the date anew each time costs more than all else. */
export function makeIsoTime(): (epochMs: number) => string {
  let second = Number.NaN;
  let start = '';
  return (epochMs) => {
    const whole = Math.floor(epochMs / 1_000);
    if (whole !== second) {
      start = new Date(whole * 1_000).toISOString().slice(0, -4);
      second = whole;
    }
    return `${start}${String(Math.floor(epochMs) - whole * 1_000).padStart(3, '0')}Z`;
  };
}
