/** The faults that measure: they run alone. */
import { testFaults } from './keep-promises.ts';

testFaults({ isMeant: ({ isTimeless }) => isTimeless !== true, sideBySide: 1 });
