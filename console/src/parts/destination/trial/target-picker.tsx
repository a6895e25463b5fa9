import { NativeSelect } from '@mantine/core';
import { cutUrl, visible } from '../../../format/texts.ts';

/** Which of the URLs a test goes to; nothing to pick with one. */
export function TargetPicker({
  urls,
  value,
  choose,
}: {
  urls: readonly string[];
  value: number;
  choose(place: number): void;
}) {
  if (urls.length < 2) return null;
  return (
    <NativeSelect
      aria-label="Target"
      value={String(value)}
      data={urls.map((url, place) => ({ value: String(place), label: `${place + 1}. ${cutUrl(visible(url), 40)}` }))}
      onChange={(event) => choose(Number(event.currentTarget.value))}
    />
  );
}
