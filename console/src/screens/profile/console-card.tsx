import { SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { Card } from '../../parts/card.tsx';
import { openKeys } from '../../shell/shell-signals.ts';
import { SHORTCUTS_OFF } from '../../parts/single-keys.ts';
import styles from './profile.module.css';

/** Choices of this browser: they are kept here and not in the account. */
export function ConsoleCard() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [areKeysOn, setAreKeysOn] = useState(() => localStorage.getItem(SHORTCUTS_OFF) !== 'yes');
  const setKeys = (on: boolean) => {
    if (on) localStorage.removeItem(SHORTCUTS_OFF);
    else localStorage.setItem(SHORTCUTS_OFF, 'yes');
    setAreKeysOn(on);
  };
  return (
    <Card title="This browser">
      <div className="pad">
        <div className={styles['choice']}>
          <span id="scheme-label">Colors</span>
          <SegmentedControl
            aria-labelledby="scheme-label"
            size="xs"
            value={colorScheme}
            onChange={(value) => setColorScheme(value)}
            data={[
              { value: 'auto', label: 'As the system' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
          />
        </div>
        <div className={styles['choice']}>
          <Switch
            label="Single-key shortcuts"
            description="Such as g d for destinations. Switch them off if you use speech input or a screen reader."
            checked={areKeysOn}
            onChange={(event) => setKeys(event.currentTarget.checked)}
          />
          <button type="button" className="aslink small dim" onClick={openKeys}>
            Show all keys
          </button>
        </div>
      </div>
    </Card>
  );
}
