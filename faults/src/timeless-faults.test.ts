/** The faults that measure nothing: they run beside other tests. */
import { testFaults } from './keep-promises.ts';

testFaults(({ isTimeless }) => isTimeless === true);
