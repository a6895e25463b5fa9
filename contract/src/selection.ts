import type { JsonObject, JsonValue } from './call.ts';

/**
 * Whether a call's integrations map lets it reach the destination of this catalog name. Names are case-sensitive; only
 * own keys count, so a destination called `constructor` is like any other.
 */
export function selectsDestination(integrations: JsonObject | undefined, name: string): boolean {
  if (integrations === undefined) return true;
  const own = ownValue(integrations, name);
  if (typeof own === 'boolean') return own;
  if (typeof own === 'object' && own !== null && !Array.isArray(own)) return true;
  // Segment's Go library writes `all` in lower case.
  return (ownValue(integrations, 'All') ?? ownValue(integrations, 'all')) !== false;
}

function ownValue(map: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
