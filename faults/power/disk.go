package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// An inode is a file or a directory. Rights, owners and times are durable at once: nothing depends on them here.
type inode struct {
	id       uint64
	mode     uint32
	uid, gid uint32
	changed  time.Time
	// lookups is how many references the kernel holds.
	lookups uint64
	// Of a regular file.
	content *content
	// Of a symbolic link.
	target string
	// Of a directory: its names as processes see them, and as the disk has them.
	names, durable map[string]*inode
}

// A disk is in memory, all of it: the process that holds it outlives every power cut. It is on, or off after a cut: then
// every operation fails with EIO. All methods are called with mu held.
type disk struct {
	mu    sync.Mutex
	isOff bool
	root  *inode
	// nodes are the inodes that the kernel knows, by id. A cut gives all of them new ids, so that no open file outlives it.
	nodes  map[uint64]*inode
	lastID uint64
	// pending are the changes of names since they were synced, oldest first.
	pending []*nameOp
}

const rootID = 1

func newDisk() *disk {
	d := &disk{nodes: map[uint64]*inode{}}
	d.root = d.newInode(syscall.S_IFDIR|0o755, 0, 0)
	d.nodes[d.root.id] = d.root
	return d
}

func (d *disk) newInode(mode, uid, gid uint32) *inode {
	d.lastID++
	node := &inode{id: d.lastID, mode: mode, uid: uid, gid: gid, changed: time.Now()}
	switch mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		node.names, node.durable = map[string]*inode{}, map[string]*inode{}
	case syscall.S_IFREG:
		node.content = newContent()
	}
	return node
}

// sync is fsync: the data and the names are on the disk.
func (d *disk) sync(node *inode) {
	if node.content != nil {
		node.content.sync()
	}
	d.syncNames(node)
}

// syncAll is sync(2): everything is on the disk.
func (d *disk) syncAll() {
	store(d.pending)
	d.pending = nil
	d.walk(d.root, map[*inode]bool{}, func(node *inode) {
		if node.content != nil {
			node.content.sync()
		}
	})
}

// cut turns the power off: of what was not synced the disk has what the dice say.
func (d *disk) cut(seed uint64, mode cutMode) losses {
	d.isOff = true
	dice := rand.New(rand.NewPCG(seed, seed))
	var lost losses
	kept := 0
	if mode != drop {
		kept = dice.IntN(len(d.pending) + 1)
	}
	d.cutNames(kept, &lost)
	d.nodes = map[uint64]*inode{}
	d.walk(d.root, map[*inode]bool{}, func(node *inode) {
		d.lastID++
		node.id, node.lookups = d.lastID, 0
		node.names = maps.Clone(node.durable)
		if node.content != nil {
			node.content.cut(mode, dice, &lost)
		}
	})
	d.root.id = rootID
	d.nodes[rootID] = d.root
	return lost
}

// walk visits each file once, a directory before its names, in an order that is the same each time.
func (d *disk) walk(node *inode, seen map[*inode]bool, visit func(node *inode)) {
	if seen[node] {
		return
	}
	seen[node] = true
	visit(node)
	for _, name := range slices.Sorted(maps.Keys(node.names)) {
		d.walk(node.names[name], seen, visit)
	}
}
