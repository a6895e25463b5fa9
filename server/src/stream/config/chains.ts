/**
 * Groups of records, such as the destinations of each source: the members of a group are a doubly linked list in columns, so that a
 * record costs twelve bytes more and leaves its group in constant time. A group exists while it has members.
 */
import { NO_RECORD, openByteTable } from './byte-table.ts';
import { openColumn } from './column.ts';

export type Chains = {
  /** The record becomes the last member of the group of this name. */
  join(name: string, record: number): void;
  /** Returns the name of the group that it was in. */
  leave(record: number): string;
  nameOf(record: number): string;
  members(name: string): number[];
};

export function openChains(): Chains {
  const groups = openByteTable();
  const [firsts, lasts] = [openColumn(), openColumn()];
  const [groupOf, next, previous] = [openColumn(), openColumn(), openColumn()];
  /** Columns hold the number of a record plus one; zero is the end. */
  const link = (before: number, after: number, group: number) => {
    if (before === 0) firsts.set(group, after);
    else next.set(before - 1, after);
    if (after === 0) lasts.set(group, before);
    else previous.set(after - 1, before);
  };
  return {
    join(name, record) {
      const known = groups.find(name);
      const group = known === NO_RECORD ? groups.put(name, '') : known;
      const last = known === NO_RECORD ? 0 : lasts.get(group);
      groupOf.set(record, group);
      link(last, record + 1, group);
      link(record + 1, 0, group);
    },
    leave(record) {
      const group = groupOf.get(record);
      const name = groups.keyOf(group);
      link(previous.get(record), next.get(record), group);
      if (firsts.get(group) === 0) groups.remove(name);
      return name;
    },
    nameOf: (record) => groups.keyOf(groupOf.get(record)),
    members(name) {
      const group = groups.find(name);
      const members: number[] = [];
      if (group === NO_RECORD) return members;
      for (let record = firsts.get(group); record !== 0; record = next.get(record - 1)) members.push(record - 1);
      return members;
    },
  };
}
