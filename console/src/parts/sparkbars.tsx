/** Twenty-four small bars for a table: grey, only trouble has a colour. */
export type Spark = { value: number; trouble?: 'givenup' | 'retrying' | undefined };

const HEIGHT = 18;

export function Sparkbars({ bars, label }: { bars: readonly Spark[]; label: string }) {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <span className="spark" role="img" aria-label={label} title={label}>
      {bars.map(({ value, trouble }, place) => (
        <i
          // oxlint-disable-next-line react/no-array-index-key -- the place in time is what a bar is
          key={place}
          className={trouble === 'givenup' ? 'b' : trouble === 'retrying' ? 'r' : undefined}
          style={{ height: `${value === 0 ? 1 : Math.max(2, (value / highest) * HEIGHT)}px` }}
        />
      ))}
    </span>
  );
}
