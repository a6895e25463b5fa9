package main

import (
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A served is the disk as the kernel asks for it. The kernel caches nothing of it: files are open with direct I/O, and names and attributes
// have no time to live, so that after a cut processes see the disk and not a cache.
type served struct {
	fuse.RawFileSystem
	disk *disk
	// listings are the names in each open directory, as they were when it was opened.
	listings    map[uint64][]fuse.DirEntry
	lastListing uint64
}

func newServed(d *disk) *served {
	return &served{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d, listings: map[uint64][]fuse.DirEntry{}}
}

// mount needs the right to mount: with the program fusermount it would need only that, but few machines have it.
func mount(d *disk, dir string) (*fuse.Server, error) {
	server, err := fuse.NewServer(newServed(d), dir, &fuse.MountOptions{
		AllowOther:         true,
		Options:            []string{"default_permissions"},
		FsName:             "power",
		Name:               "power",
		DirectMountStrict:  true,
		DisableReadDirPlus: true,
		DisableXAttrs:      true,
	})
	if err != nil {
		return nil, err
	}
	go server.Serve()
	return server, server.WaitMount()
}

// with holds the disk while it answers, unless the power is off or the file is one of before a cut.
func (s *served) with(id uint64, answer func(node *inode) fuse.Status) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.isOff {
		return fuse.EIO
	}
	node := s.disk.nodes[id]
	if node == nil {
		return fuse.Status(syscall.ESTALE)
	}
	return answer(node)
}

func fill(out *fuse.Attr, node *inode) {
	*out = fuse.Attr{Ino: node.id, Mode: node.mode, Nlink: 1, Owner: fuse.Owner{Uid: node.uid, Gid: node.gid}, Blksize: pageSize}
	if node.content != nil {
		out.Size = node.content.size
		out.Blocks = uint64(len(node.content.pages)) * pageSize / sectorSize
	}
	out.Size += uint64(len(node.target))
	out.SetTimes(&node.changed, &node.changed, &node.changed)
}

// enter tells the kernel of a file, which it then knows by its id until it forgets it.
func (s *served) enter(node *inode, out *fuse.EntryOut) fuse.Status {
	node.lookups++
	s.disk.nodes[node.id] = node
	out.NodeId = node.id
	fill(&out.Attr, node)
	return fuse.OK
}

func (s *served) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return s.with(header.NodeId, func(dir *inode) fuse.Status {
		node := dir.names[name]
		if node == nil {
			return fuse.ENOENT
		}
		return s.enter(node, out)
	})
}

func (s *served) Forget(id, lookups uint64) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	node := s.disk.nodes[id]
	if node == nil || id == rootID {
		return
	}
	if node.lookups -= min(lookups, node.lookups); node.lookups == 0 {
		delete(s.disk.nodes, id)
	}
}

func (s *served) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.with(in.NodeId, func(node *inode) fuse.Status {
		fill(&out.Attr, node)
		return fuse.OK
	})
}

func (s *served) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.with(in.NodeId, func(node *inode) fuse.Status {
		if mode, ok := in.GetMode(); ok {
			node.mode = node.mode&syscall.S_IFMT | mode
		}
		if uid, ok := in.GetUID(); ok {
			node.uid = uid
		}
		if gid, ok := in.GetGID(); ok {
			node.gid = gid
		}
		if changed, ok := in.GetMTime(); ok {
			node.changed = changed
		}
		if size, ok := in.GetSize(); ok && node.content != nil {
			node.content.truncate(size)
		}
		fill(&out.Attr, node)
		return fuse.OK
	})
}

func (s *served) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return s.with(in.NodeId, func(node *inode) fuse.Status {
		if in.Flags&syscall.O_TRUNC != 0 && node.content != nil {
			node.content.truncate(0)
		}
		out.OpenFlags = fuse.FOPEN_DIRECT_IO
		return fuse.OK
	})
}

func (s *served) Read(_ <-chan struct{}, in *fuse.ReadIn, dest []byte) (result fuse.ReadResult, status fuse.Status) {
	status = s.with(in.NodeId, func(node *inode) fuse.Status {
		result = fuse.ReadResultData(node.content.read(dest, in.Offset))
		return fuse.OK
	})
	return result, status
}

func (s *served) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	status := s.with(in.NodeId, func(node *inode) fuse.Status {
		node.content.write(data, in.Offset)
		node.changed = time.Now()
		// O_SYNC has this bit, too.
		if in.Flags&syscall.O_DSYNC != 0 {
			s.disk.sync(node)
		}
		return fuse.OK
	})
	return uint32(len(data)), status
}

func (s *served) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return s.with(in.NodeId, func(node *inode) fuse.Status {
		s.disk.sync(node)
		return fuse.OK
	})
}

func (s *served) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return s.Fsync(cancel, in)
}

// Fallocate only makes a file longer; many file systems cannot do more.
func (s *served) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if in.Mode != 0 {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	return s.with(in.NodeId, func(node *inode) fuse.Status {
		if end := in.Offset + in.Length; end > node.content.size {
			node.content.truncate(end)
		}
		return fuse.OK
	})
}

func (s *served) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return s.with(in.NodeId, func(dir *inode) fuse.Status {
		list := []fuse.DirEntry{{Name: ".", Mode: dir.mode, Ino: dir.id}, {Name: "..", Mode: dir.mode, Ino: dir.id}}
		for _, name := range slices.Sorted(maps.Keys(dir.names)) {
			node := dir.names[name]
			list = append(list, fuse.DirEntry{Name: name, Mode: node.mode, Ino: node.id})
		}
		s.lastListing++
		s.listings[s.lastListing] = list
		out.Fh = s.lastListing
		return fuse.OK
	})
}

func (s *served) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.with(in.NodeId, func(*inode) fuse.Status {
		list := s.listings[in.Fh]
		for _, entry := range list[min(in.Offset, uint64(len(list))):] {
			if !out.AddDirEntry(entry) {
				break
			}
		}
		return fuse.OK
	})
}

func (s *served) ReleaseDir(in *fuse.ReleaseIn) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	delete(s.listings, in.Fh)
}

// StatFs promises a terabyte: engines look at it before they start.
func (s *served) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const blocks = 1 << 28
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Bsize: pageSize, Frsize: pageSize, NameLen: 255, Files: blocks, Ffree: blocks}
	return fuse.OK
}
