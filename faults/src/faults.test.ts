/** The faults that measure: they run alone. */
import { testFaults } from './keep-promises.ts';

testFaults(({ isTimeless }) => isTimeless !== true);
