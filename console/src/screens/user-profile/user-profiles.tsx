/** Finding one user: by userId or anonymousId. */
import { SegmentedControl, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Page } from '../../shell/page.tsx';
import css from './user-profile.module.css';

const KINDS = [
  { value: 'user', label: 'userId' },
  { value: 'anonymous', label: 'anonymousId' },
];

export function UserProfiles() {
  const maySee = useMay('profiles:read');
  return (
    <Page title="Profiles">
      <Sentence then="A profile shows ids, traits, audiences and computed traits, why each holds, and when it ends by itself.">
        Find one user.
      </Sentence>
      <div className="mt2">
        {maySee ? (
          <Finder />
        ) : (
          <Note title="Profiles need the permission profiles:read.">Ask an admin or the owner.</Note>
        )}
      </div>
    </Page>
  );
}

function Finder() {
  const [id, setId] = useState('');
  const [kind, setKind] = useState('user');
  const navigate = useNavigate();
  return (
    <Card>
      <form
        className={`pad ${css.search}`}
        onSubmit={(event) => {
          event.preventDefault();
          if (id === '') return;
          void navigate({ to: '/profiles/$userId', params: { userId: id }, search: kind === 'user' ? {} : { kind } });
        }}
      >
        <TextInput
          label="Id"
          placeholder="u_48213"
          value={id}
          maxLength={1_000}
          autoComplete="off"
          spellCheck={false}
          data-filter
          onChange={(event) => setId(event.currentTarget.value)}
        />
        <SegmentedControl aria-label="Kind of id" data={KINDS} value={kind} onChange={setKind} />
        <Button type="submit" look="ink" disabled={id === ''}>
          Open profile
        </Button>
      </form>
      <Empty title="Where ids come from">
        Each event names its user: follow a user id in the events, in a delivery, or among the members of an audience.
        Ids are compared letter by letter.
      </Empty>
    </Card>
  );
}
