import { visible } from '../../format/texts.ts';
import { useChange } from '../../api/queries.ts';
import { tellError } from '../../parts/tell-error.ts';
import { toast } from '../../parts/toasts.tsx';

type Block = { name: string; blocked: boolean };

/** Blocks or unblocks an event at once, with an undo. */
export function useBlock(sourceId: string) {
  const change = useChange<Block>({
    method: 'POST',
    path: `/sources/${encodeURIComponent(sourceId)}/events`,
    body: ({ name, blocked }) => ({ name, blocked }),
    renews: [`/sources/${encodeURIComponent(sourceId)}`],
  });
  // The person may have left the screen by then: only a promise tells how an undo ended.
  const undo = (asked: Block) => void change.mutateAsync(asked).then(() => toast({ text: told(asked) }), tellError);
  const block = (asked: Block) =>
    change.mutate(asked, {
      onSuccess: () => toast({ text: told(asked), undo: () => undo({ ...asked, blocked: !asked.blocked }) }),
    });
  return { block, error: change.error, busyWith: change.isPending ? change.variables.name : undefined };
}

function told({ name, blocked }: Block): string {
  const shown = visible(name).slice(0, 80);
  return blocked
    ? `Blocked “${shown}”. Millrace still stores it; no destination gets it from now on.`
    : `Unblocked “${shown}”. Destinations get it again from now on.`;
}
