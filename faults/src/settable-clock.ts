/** Loaded before the server by `node --import`: the clock of the process is what the fault says, not what the machine says. */
import { shiftClock } from '../../server/testing/shift-clock.ts';

const clock = shiftClock(0);
process.on('message', (shiftMs: number) => clock.set(shiftMs));
// It must not keep a process alive that has nothing else to do.
process.channel?.unref();
