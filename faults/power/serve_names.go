package main

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const renameNoReplace = 1

// add makes a new file under a name that is free.
func (s *served) add(in fuse.InHeader, name string, mode uint32, out *fuse.EntryOut) (*inode, fuse.Status) {
	var made *inode
	status := s.with(in.NodeId, func(dir *inode) fuse.Status {
		if dir.names[name] != nil {
			return fuse.Status(syscall.EEXIST)
		}
		made = s.disk.newInode(mode, in.Uid, in.Gid)
		s.disk.changeNames(made, nameSet{dir, name, made})
		return s.enter(made, out)
	})
	return made, status
}

func (s *served) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	_, status := s.add(in.InHeader, name, syscall.S_IFREG|in.Mode&0o7777, &out.EntryOut)
	return status
}

func (s *served) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	_, status := s.add(in.InHeader, name, in.Mode, out)
	return status
}

func (s *served) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	_, status := s.add(in.InHeader, name, syscall.S_IFDIR|in.Mode&0o7777, out)
	return status
}

func (s *served) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	made, status := s.add(*in, name, syscall.S_IFLNK|0o777, out)
	if status.Ok() {
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		made.target = target
	}
	return status
}

func (s *served) Readlink(_ <-chan struct{}, in *fuse.InHeader) (target []byte, status fuse.Status) {
	status = s.with(in.NodeId, func(node *inode) fuse.Status {
		target = []byte(node.target)
		return fuse.OK
	})
	return target, status
}

func (s *served) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return s.with(in.NodeId, func(dir *inode) fuse.Status {
		node := s.disk.nodes[in.Oldnodeid]
		if node == nil {
			return fuse.Status(syscall.ESTALE)
		}
		if dir.names[name] != nil {
			return fuse.Status(syscall.EEXIST)
		}
		s.disk.changeNames(node, nameSet{dir, name, node})
		return s.enter(node, out)
	})
}

func (s *served) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return s.with(in.NodeId, func(dir *inode) fuse.Status {
		node := dir.names[name]
		if node == nil {
			return fuse.ENOENT
		}
		s.disk.changeNames(node, nameSet{dir, name, nil})
		return fuse.OK
	})
}

func (s *served) Rmdir(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return s.with(in.NodeId, func(dir *inode) fuse.Status {
		node := dir.names[name]
		if node == nil {
			return fuse.ENOENT
		}
		if len(node.names) > 0 {
			return fuse.Status(syscall.ENOTEMPTY)
		}
		s.disk.changeNames(node, nameSet{dir, name, nil})
		return fuse.OK
	})
}

func (s *served) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	return s.with(in.NodeId, func(from *inode) fuse.Status {
		to, node := s.disk.nodes[in.Newdir], from.names[oldName]
		if to == nil || node == nil {
			return fuse.ENOENT
		}
		replaced := to.names[newName]
		switch {
		case in.Flags&^renameNoReplace != 0:
			return fuse.EINVAL
		case replaced == node:
			return fuse.OK
		case replaced != nil && in.Flags == renameNoReplace:
			return fuse.Status(syscall.EEXIST)
		case replaced != nil && len(replaced.names) > 0:
			return fuse.Status(syscall.ENOTEMPTY)
		}
		s.disk.changeNames(node, nameSet{from, oldName, nil}, nameSet{to, newName, node})
		return fuse.OK
	})
}
