import { visible } from '../../format/texts.ts';
import { useChange } from '../../api/queries.ts';
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
  const block = ({ name, blocked }: Block, canUndo = true) =>
    change.mutate(
      { name, blocked },
      {
        onSuccess: () =>
          toast({
            text: blocked
              ? `Blocked “${visible(name).slice(0, 80)}”. Millrace still stores it; no destination gets it from now on.`
              : `Unblocked “${visible(name).slice(0, 80)}”. Destinations get it again from now on.`,
            ...(canUndo ? { undo: () => block({ name, blocked: !blocked }, false) } : {}),
          }),
      },
    );
  return { block, error: change.error, busyWith: change.isPending ? change.variables.name : undefined };
}
