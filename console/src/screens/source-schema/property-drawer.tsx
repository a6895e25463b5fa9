import type { SchemaProperty } from '@millrace/contract/control';
import { useMay } from '../../api/session.tsx';
import { count, percent } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { SideDrawer } from '../../parts/dialog.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { WithoutPayloads } from '../../parts/without-payloads.tsx';
import { isMixed, type SchemaItem } from './schema-rows.ts';
import styles from './source-schema.module.css';

type PropertyDrawerProps = { item: SchemaItem; sourceId: string; close(): void };

export function PropertyDrawer({ item, sourceId, close }: PropertyDrawerProps) {
  const { type, name, count: events, properties, hasMore } = item;
  const maySee = useMay('payloads:read');
  const search = { sourceId, type, ...(name === null ? {} : { name }) };
  const live = { type, ...(name === null ? {} : { event: name }) };
  return (
    <SideDrawer
      isOpen
      close={close}
      title={
        <>
          <OuterText text={name ?? `all ${type} calls`} most={60} /> <span className="tag">{type}</span>
        </>
      }
    >
      <div className="stack">
        <div className="btns">
          <LinkButton small to="/sources/$id" params={{ id: sourceId }} search={live}>
            Watch it live
          </LinkButton>
          <LinkButton small to="/events" search={search}>
            Find stored events
          </LinkButton>
        </div>
        {properties.length === 0 ? (
          <p className="soft">
            {events === 0
              ? 'None of the latest stored events has this name, so Millrace knows no properties of it.'
              : `None of its ${count(events)} events has properties.`}
          </p>
        ) : (
          <table className={styles.properties}>
            <thead>
              <tr>
                <th>{type === 'identify' || type === 'group' ? 'Trait' : 'Property'}</th>
                <th>Type</th>
                <th className="num">In</th>
                <th>Samples</th>
              </tr>
            </thead>
            <tbody>
              {properties.map((property) => (
                <PropertyRow key={property.path} property={property} events={events} />
              ))}
            </tbody>
          </table>
        )}
        {!maySee && <WithoutPayloads what="Samples of values are" />}
        {hasMore && <p className="dim small">It has more properties than are shown here.</p>}
      </div>
    </SideDrawer>
  );
}

function PropertyRow({ property, events }: { property: SchemaProperty; events: number }) {
  const { path, types, count: own, samples } = property;
  return (
    <tr>
      <td className="mono">
        <OuterText text={path} most={60} />
      </td>
      <td>
        {types.join(' or ')}
        {isMixed(property) && <span className="sub">more than one type</span>}
      </td>
      <td className="num nowrap">{percent(Math.min(1, own / Math.max(events, 1)))} %</td>
      <td className="mono">
        {samples.map((sample) => (
          <span className={styles.sample} key={`${typeof sample} ${sample}`}>
            <OuterText text={typeof sample === 'string' ? `"${sample}"` : String(sample)} most={48} />
          </span>
        ))}
      </td>
    </tr>
  );
}
