import type { Member, MemberLink } from '@millrace/contract/control';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { ShownOnce } from './shown-once.tsx';

/** For a member who lost the password. The member chooses the new one; an admin never does. */
export function MemberLinkButton({ member: { userId, name } }: { member: Member }) {
  const [isOpen, setIsOpen] = useState(false);
  const make = useChange<void, MemberLink>({ method: 'POST', path: `/members/${userId}/password-link` });
  const close = () => {
    setIsOpen(false);
    make.reset();
  };
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        New password
      </Button>
      <Dialog title="A link to a new password" isOpen={isOpen} close={close}>
        {make.data === undefined ? (
          <div className="stack">
            <p>
              <OuterText text={name} most={60} /> gets a link by mail and chooses a new password with it. Where this
              installation sends no mail, you get the link, and hand it over. All their sessions end when it is used.
            </p>
            {make.error !== null && <ProblemNote error={make.error} what="The link was not made." />}
            <div className="btns end">
              <Button onClick={close}>Cancel</Button>
              <Button look="ink" isBusy={make.isPending} onClick={() => make.mutate()}>
                Make the link
              </Button>
            </div>
          </div>
        ) : (
          <Made made={make.data} name={name} close={close} />
        )}
      </Dialog>
    </>
  );
}

function Made({ made: { link, expiresAt }, name, close }: { made: MemberLink; name: string; close(): void }) {
  return (
    <div className="stack">
      <p>
        {link === undefined ? 'A mail with the link is on its way to ' : 'Hand this link to '}
        <OuterText text={name} most={60} />. It works once, until <TimeText at={expiresAt} />.
      </p>
      {link !== undefined && <ShownOnce label="Link" text={`${location.origin}${link}`} />}
      <div className="btns end">
        <Button look="ink" onClick={close}>
          Done
        </Button>
      </div>
    </div>
  );
}
