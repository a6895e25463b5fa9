const TICK_MS = 5;

export type Flow = { units: number; perSecond: number };

/** Sends units at a steady pace, in small steps. Deliver's generator and the twins keep the same pace. */
export function sendEvenly({ units, perSecond }: Flow, send: (unit: number) => void): Promise<void> {
  const startedAt = performance.now();
  let sent = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(units, Math.ceil(((performance.now() - startedAt) * perSecond) / 1_000));
      for (; sent < due; sent += 1) send(sent);
      if (sent < units) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
}
