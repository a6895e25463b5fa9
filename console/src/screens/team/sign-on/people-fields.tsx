import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { ROLE_NAMES } from '@millrace/contract/permissions';
import type { Draft } from './draft.ts';
import { GroupRows } from './group-rows.tsx';

/** The description stands below the field. */
export const ORDER: ('label' | 'input' | 'error' | 'description')[] = ['label', 'input', 'error', 'description'];
const ROLES = [
  { value: '', label: 'are not let in' },
  ...ROLE_NAMES.map((role) => ({ value: role, label: `are ${role}` })),
];

/** Which people of the provider come in, and with which role. */
export function PeopleFields({ draft, set }: { draft: Draft; set(change: Partial<Draft>): void }) {
  return (
    <>
      <GroupRows rows={draft.groupRoles} setRows={(groupRoles) => set({ groupRoles })} />
      <TextInput
        label="Claim with the groups"
        autoComplete="off"
        required
        value={draft.groupsClaim}
        onChange={(event) => set({ groupsClaim: event.currentTarget.value })}
      />
      <NativeSelect
        label="People in none of these groups"
        description="Let them in only if your provider has your own people alone, or if you list your email domains."
        inputWrapperOrder={ORDER}
        value={draft.defaultRole}
        data={ROLES}
        onChange={(event) => set({ defaultRole: event.currentTarget.value as Draft['defaultRole'] })}
      />
      <Textarea
        label="Email domains"
        description="One in a line. Addresses of people have to be in one of them; without any, each address is taken."
        inputWrapperOrder={ORDER}
        rows={3}
        value={draft.domains}
        onChange={(event) => set({ domains: event.currentTarget.value })}
      />
    </>
  );
}
