/**
 * The console of a new installation. One set of engines, one server and one browser serve all suites. The first one makes the workspace
 * and its owner with the console; the others go on with them, and the last one leaves second factors that no other suite expects.
 */
import './new-installation/first-event.ts';
import './new-installation/single-sign-on.ts';
import './new-installation/accounts.ts';
import './new-installation/session-end.ts';
import './new-installation/second-factor.ts';
