/** The database of `millrace dev`: made ready through the superuser that only that command has. */
import { connected } from './migrate-database.ts';

const OWNER = 'millrace_owner';
const SERVICE = 'millrace';

/** Undefined while the server does not accept connections yet. As in production, one login owns the tables and another one serves. */
export async function prepareDatabase(
  adminUrl: string,
  password: string,
): Promise<{ owner: string; service: string } | undefined> {
  if (!(await isDatabaseUp(adminUrl))) return undefined;
  await using admin = await connected(adminUrl);
  const known = await admin.client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE]);
  if (known.rowCount === 0) await admin.client.query(loginsSql(admin.client.escapeLiteral(password)));
  const urlOf = (login: string) => adminUrl.replace('//postgres:', `//${login}:`);
  return { owner: urlOf(OWNER), service: urlOf(SERVICE) };
}

export async function isDatabaseUp(url: string): Promise<boolean> {
  try {
    await using database = await connected(url);
    await database.client.query('SELECT 1');
    return true;
  } catch {
    return false;
  }
}

/** One implicit transaction: all of it or nothing. */
function loginsSql(password: string): string {
  return `CREATE ROLE millrace_app NOLOGIN;
    CREATE ROLE ${OWNER} LOGIN PASSWORD ${password} IN ROLE millrace_app;
    CREATE ROLE ${SERVICE} LOGIN PASSWORD ${password} IN ROLE millrace_app;
    ALTER DATABASE postgres OWNER TO ${OWNER}`;
}
