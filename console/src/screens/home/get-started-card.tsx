import { useMay } from '../../api/session.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Steps } from '../../parts/steps.tsx';
import { type Started, type StepKey, stepsOf } from './get-started.ts';

const BUTTONS: Record<
  StepKey,
  { name: string; to: '/sources/new' | '/sources' | '/destinations/new' | '/deliveries' }
> = {
  source: { name: 'Add a source', to: '/sources/new' },
  call: { name: 'Go to the source', to: '/sources' },
  destination: { name: 'Add a destination', to: '/destinations/new' },
  delivery: { name: 'Watch the deliveries', to: '/deliveries' },
};

export function GetStartedCard({ started }: { started: Started }) {
  const mayBuild = useMay('destinations:write');
  const done = Object.values(started).filter(Boolean).length;
  return (
    <Card title="Get started" aside={`${done} of 4 done`}>
      <div className="pad">
        <Steps
          steps={stepsOf(started).map(({ key, name, text, state }) => {
            if (state !== 'now') return { name, text, state };
            const { name: label, to } = BUTTONS[key];
            if (!mayBuild && to.endsWith('/new')) return { name, text: `${text} It needs developer.`, state };
            const action = (
              <LinkButton look="ink" to={to}>
                {label}
              </LinkButton>
            );
            return { name, text, state, action };
          })}
        />
      </div>
    </Card>
  );
}
