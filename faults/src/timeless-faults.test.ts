/** The faults that measure nothing: they run beside other tests. */
import { TIMELESS } from './catalog.ts';
import { testFaults } from './keep-promises.ts';

testFaults((name) => TIMELESS.has(name));
