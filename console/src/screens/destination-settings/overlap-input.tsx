import { NumberInput } from '@mantine/core';

export function OverlapInput({ hours, change }: { hours: number; change(hours: number): void }) {
  return (
    <NumberInput
      label="Hours with both secrets"
      description="So long the previous secret signs beside the new one, and your receiver may have either. 0 ends it at once: for a secret that leaked."
      min={0}
      max={168}
      allowDecimal={false}
      value={hours}
      onChange={(value) => change(Math.min(Math.max(Number(value) || 0, 0), 168))}
    />
  );
}
