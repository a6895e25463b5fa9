/** The function of a receiver that verifies, cut out of the whole file: the paragraph that speaks of HMAC-SHA256. */
export function checkIn(file: string): string {
  const paragraph = file.split(/\n{2,}/).find((text) => text.includes('HMAC-SHA256 over'));
  return (paragraph ?? file).trim();
}
