/**
 * The console with the data of the demo shop. One set of engines, one server and one browser serve all suites: to start them takes more
 * processor time than most suites do. The order matters: the first suites only look, the later ones change the shop, and the last ones
 * take away its database and its server.
 */
import './demo-shop/look-at-screens.ts';
import './demo-shop/roles.ts';
import './demo-shop/without-payloads.ts';
import './demo-shop/journeys.ts';
import './demo-shop/hostile.ts';
import './demo-shop/database-away.ts';
import './demo-shop/upgrade.ts';
