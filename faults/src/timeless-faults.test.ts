/** The faults that measure nothing: several at once, beside other tests. */
import { TIMELESS } from './catalog.ts';
import { testFaults } from './keep-promises.ts';

testFaults((name) => TIMELESS.has(name), 2);
