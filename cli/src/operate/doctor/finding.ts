/** One thing that doctor found. Each says what is wrong, why that matters and what to do. */
export type Finding = {
  /** A stable name, for scripts. */
  code: string;
  /** `problem`: it does not work, or data is in danger. `warning`: it works, and should be changed. */
  level: 'problem' | 'warning';
  what: string;
  why: string;
  todo: string;
};

/** A part of the check, with what it found and what it looked at. */
export type Checked = { part: string; findings: Finding[]; facts: Record<string, unknown> };

export function problem(code: string, words: Omit<Finding, 'code' | 'level'>): Finding {
  return { code, level: 'problem', ...words };
}

export function warning(code: string, words: Omit<Finding, 'code' | 'level'>): Finding {
  return { code, level: 'warning', ...words };
}
