/** The faults that measure nothing: they run beside other tests, and beside each other, because they wait more than they work. */
import { testFaults } from './keep-promises.ts';

testFaults({ isMeant: ({ isTimeless }) => isTimeless === true, sideBySide: 3 });
