import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { cleanUrl, guessCollectUrl, type Setting } from './collect-url.ts';

const REMEMBERED = 'millrace-collect-url';

type SystemAnswer = { process: { settings: Setting[] } };

/** A person may correct the address: this browser remembers it. Only an owner may read the settings of the server. */
export function useCollectUrl() {
  const system = useQuery(reading<SystemAnswer>('/system', { enabled: useMay('system:read') }));
  const [typed, setTyped] = useState(() => localStorage.getItem(REMEMBERED));
  const { url, isKnown } = guessCollectUrl({ settings: system.data?.process.settings ?? [], here: location });
  // The guess would be replaced a moment later, and a person may have copied it by then.
  const isReading = typed === null && system.isLoading && system.failureCount === 0;
  const text = typed ?? (isReading ? '' : url);
  const type = (value: string) => {
    const isOwn = value !== '' && value !== url;
    setTyped(value);
    if (!isOwn) localStorage.removeItem(REMEMBERED);
    else if (cleanUrl(value) !== undefined) localStorage.setItem(REMEMBERED, value);
  };
  return { text, type, url: cleanUrl(text), isReading, isKnown: isKnown && text === url };
}
