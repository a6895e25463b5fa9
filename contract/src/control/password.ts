/** The rules for passwords. The server checks them before a handler runs; its control/access/password.ts hashes. */
import { Type } from 'typebox';

/** Hashing reads the whole text, so it has an end. */
const MAX_LENGTH = 1_000;

/** Length is the only rule: required kinds of characters make people choose weaker ones. */
export const NewPassword = Type.String({ minLength: 12, maxLength: MAX_LENGTH });

/** Compared with a stored hash. It has no minimum: a stricter rule must not lock out people with an older password. */
export const CurrentPassword = Type.String({ maxLength: MAX_LENGTH });
