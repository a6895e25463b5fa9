import { TextInput } from '@mantine/core';
import type { Source } from '@millrace/contract/control';
import { Link, useSearch } from '@tanstack/react-router';
import { Card } from '../../parts/card.tsx';
import { Code } from '../../parts/code.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import type { Place } from './browser-script.ts';
import styles from './new-source.module.css';
import { SNIPPETS, type Snippet, snippetNamed } from './snippets.ts';
import { useCollectUrl } from './use-collect-url.ts';

export function SendCard({ source }: { source: Source }) {
  const { tab } = useSearch({ from: '/shell/sources/new' });
  const collect = useCollectUrl();
  const writeKey = source.writeKeys[0]?.key;
  const snippet = snippetNamed(tab);
  return (
    <Card title="2. Send a call" aside="key and address are filled in">
      <div className={`pad ${styles.two}`}>
        <TextInput
          label="Collect URL"
          description={
            collect.isKnown
              ? 'The public address of collect, from the settings of this installation.'
              : 'The console assumes this address. Correct it if clients reach Millrace by another one.'
          }
          inputWrapperOrder={WRAPPER_ORDER}
          value={collect.text}
          error={
            collect.url === undefined && !collect.isReading
              ? 'Write a full address, such as https://events.example.com'
              : undefined
          }
          onChange={(event) => collect.type(event.currentTarget.value)}
        />
        <div>
          <div className={styles.label}>Write key</div>
          {writeKey === undefined ? (
            <Note title="This source has no write key.">
              <Link to="/sources/$id/settings" params={{ id: source.id }}>
                Create one in its settings
              </Link>
              .
            </Note>
          ) : (
            <div className={styles.key}>
              <code>{writeKey}</code>
              <CopyButton text={writeKey} label="Copy the write key" />
            </div>
          )}
          <p className="small dim">It names the source and only lets calls in. It may stand in a web page.</p>
        </div>
      </div>
      {writeKey !== undefined && (collect.url !== undefined || collect.isReading) && (
        <div className={styles.send} style={{ borderTop: '1px solid var(--line)' }}>
          <Picks sourceId={source.id} current={snippet} />
          {collect.url !== undefined && <SnippetText snippet={snippet} place={{ url: collect.url, writeKey }} />}
        </div>
      )}
    </Card>
  );
}

const WRAPPER_ORDER: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

function Picks({ sourceId, current }: { sourceId: string; current: Snippet }) {
  const groups = [...new Set(SNIPPETS.map(({ group }) => group))];
  return (
    <nav className={styles.picks} aria-label="Libraries">
      {groups.flatMap((group) => [
        <h3 key={group}>{group}</h3>,
        ...SNIPPETS.filter((snippet) => snippet.group === group).map(({ key, name }) => (
          <Link
            key={key}
            to="/sources/new"
            search={{ sourceId, tab: key }}
            replace
            resetScroll={false}
            aria-current={key === current.key ? 'page' : undefined}
            activeOptions={EXACT}
          >
            {name}
          </Link>
        )),
      ])}
    </nav>
  );
}

const EXACT = { exact: true, includeSearch: true };

function SnippetText({ snippet: { name, install, change, code, remark }, place }: { snippet: Snippet; place: Place }) {
  return (
    <div className="pad stack">
      {change !== undefined && (
        <div>
          <div className={styles.label}>The one thing to change</div>
          <Code text={change(place)} label="the change" />
        </div>
      )}
      {install !== undefined && change === undefined && <Code text={install} label="the install command" />}
      <div>
        {change !== undefined && <div className={styles.label}>A whole first call</div>}
        <Code text={code(place)} label={`the ${name} code`} foldsAfter={40} />
      </div>
      {(remark !== undefined || (install !== undefined && change !== undefined)) && (
        <p className="small dim">
          {change !== undefined && install !== undefined && (
            <>
              Millrace is tested with <code>{install.split(' ').at(-1)}</code>.{' '}
            </>
          )}
          {remark}
        </p>
      )}
    </div>
  );
}
