import { Link } from '@tanstack/react-router';
import { Icon } from '../../parts/icon.tsx';
import { addMonths, monthWords } from './months.ts';
import styles from './usage.module.css';

/** Counters are kept for 400 days. */
const KEPT_MONTHS = 13;

export function MonthSwitch({ month, last }: { month: string; last: string }) {
  const before = addMonths(month, -1);
  const after = addMonths(month, 1);
  return (
    <nav className={styles['months']} aria-label="Month">
      {before >= addMonths(last, -KEPT_MONTHS) ? (
        <Link className="iconbtn" to="/usage" search={{ month: before }} aria-label={`To ${monthWords(before)}`}>
          <span className={styles['back']}>
            <Icon name="down" />
          </span>
        </Link>
      ) : (
        <span className="iconbtn" />
      )}
      <b>{monthWords(month)}</b>
      {after <= last ? (
        <Link
          className="iconbtn"
          to="/usage"
          search={after === last ? {} : { month: after }}
          aria-label={`To ${monthWords(after)}`}
        >
          <span className={styles['on']}>
            <Icon name="down" />
          </span>
        </Link>
      ) : (
        <span className="iconbtn" />
      )}
    </nav>
  );
}
