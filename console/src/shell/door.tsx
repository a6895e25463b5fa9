/** The frame of the pages before a session: sign-in, first set-up, invitation. */
import { type FormEvent, type ReactNode, useEffect } from 'react';
import styles from './door.module.css';
import { Wheel } from './navigation.tsx';

type DoorProps = {
  title: string;
  sub: ReactNode;
  children: ReactNode;
  /** Small print below the form. */
  foot?: ReactNode;
  /** The right half of the page. */
  second?: ReactNode;
};

export function Door({ title, sub, children, foot, second }: DoorProps) {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <main className={[styles['door'], second === undefined ? '' : styles['halves']].join(' ')}>
      <div className={styles['side']}>
        <div className={styles['box']}>
          <div className={styles['brand']}>
            <Wheel /> Millrace
          </div>
          <h1>{title}</h1>
          <p className={styles['sub']}>{sub}</p>
          {children}
          {foot !== undefined && <p className={styles['foot']}>{foot}</p>}
        </div>
      </div>
      {second !== undefined && (
        <div className={styles['second']}>
          <div>{second}</div>
        </div>
      )}
    </main>
  );
}

/** Fields one below the other, and a button as wide as they are. */
export function DoorForm({ submit, children }: { submit(): void; children: ReactNode }) {
  const submitted = (event: FormEvent) => {
    event.preventDefault();
    submit();
  };
  return (
    <form className={styles['form']} onSubmit={submitted}>
      {children}
    </form>
  );
}
