import type { ReactNode } from 'react';

type CardProps = {
  title?: ReactNode;
  /** Stands beside the title, in grey. */
  aside?: ReactNode;
  /** At the right end of the head. */
  right?: ReactNode;
  /** Without the line below the head, as charts have it. */
  isOpen?: boolean;
  children: ReactNode;
};

export function Card({ title, aside, right, isOpen = false, children }: CardProps) {
  return (
    <section className="card">
      {title !== undefined && (
        <header className={isOpen ? 'open' : undefined}>
          <h2>{title}</h2>
          {aside !== undefined && <span className="dim small">{aside}</span>}
          {right !== undefined && <div className="right">{right}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Names and values, one below the other. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="kv">
      {facts.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export type Tile = { name: string; value: ReactNode; unit?: ReactNode; detail?: ReactNode };

/** Figures in one strip. */
export function Tiles({ label, tiles }: { label: string; tiles: readonly Tile[] }) {
  return (
    <section className="tiles" aria-label={label}>
      {tiles.map(({ name, value, unit, detail }) => (
        <div className="tile" key={name}>
          <div className="k">{name}</div>
          <div className="v">
            {value} {unit !== undefined && <small>{unit}</small>}
          </div>
          {detail !== undefined && <div className="d">{detail}</div>}
        </div>
      ))}
    </section>
  );
}
