package main

import "slices"

// A nameOp is one create, link, unlink or rename. The disk has all of it or nothing: a crash never shows half a rename.
type nameOp struct {
	who  *inode
	sets []nameSet
}

// A nameSet gives a name of a directory to a file; to nil, when the name is removed.
type nameSet struct {
	dir  *inode
	name string
	to   *inode
}

// changeNames makes the change visible at once, and durable when a sync or a cut says so.
func (d *disk) changeNames(who *inode, sets ...nameSet) {
	for _, set := range sets {
		apply(set.dir.names, set)
	}
	d.pending = append(d.pending, &nameOp{who, sets})
}

func apply(names map[string]*inode, set nameSet) {
	if set.to == nil {
		delete(names, set.name)
	} else {
		names[set.name] = set.to
	}
}

// syncNames is the part of fsync that concerns names, as ext4, XFS and btrfs do it: a sync of a file stores the file's own names with the
// directories that lead to them, a sync of a directory also everything that happened in it. With an operation the disk gets those that it
// builds on: earlier ones of the same names, and those that gave its directories their names.
func (d *disk) syncNames(of *inode) {
	entries, dirs := map[nameSet]bool{}, map[*inode]bool{}
	isMeant := func(op *nameOp) bool {
		return op.who == of || dirs[op.who] || slices.ContainsFunc(op.sets, func(set nameSet) bool {
			return set.dir == of || entries[set.entry()]
		})
	}
	var committed, kept []*nameOp
	for _, op := range slices.Backward(d.pending) {
		if !isMeant(op) {
			kept = append(kept, op)
			continue
		}
		committed = append(committed, op)
		for _, set := range op.sets {
			entries[set.entry()], dirs[set.dir] = true, true
		}
	}
	slices.Reverse(committed)
	slices.Reverse(kept)
	store(committed)
	d.pending = kept
}

func (set nameSet) entry() nameSet { return nameSet{dir: set.dir, name: set.name} }

func store(ops []*nameOp) {
	for _, op := range ops {
		for _, set := range op.sets {
			apply(set.dir.durable, set)
		}
	}
}

// cutNames keeps the operations up to one of them: a journal has them in their order.
func (d *disk) cutNames(kept int, losses *losses) {
	losses.NamesUnsynced = len(d.pending)
	losses.NamesLost = len(d.pending) - kept
	store(d.pending[:kept])
	d.pending = nil
}
