package main

import (
	"math/rand/v2"
	"slices"
)

const (
	pageSize   = 4096
	sectorSize = 512
	// maxVersions bounds the memory of a page that is written often and never synced.
	maxVersions = 8
)

// A version is a page as one write or truncate left it; nil data are zeros.
type version struct {
	data []byte
	// order is the number of the operation among all of the file.
	order      uint64
	isTruncate bool
}

// A page has the data that a sync stored, and its versions since then, oldest first. Reads see the last one.
type page struct {
	durable []byte
	since   []version
}

type sizeChange struct {
	size  uint64
	order uint64
}

// content is the data of one file: the pages on the disk, and the writes that only the page cache has.
type content struct {
	size        uint64
	durableSize uint64
	// sizes since the last sync, oldest first.
	sizes []sizeChange
	order uint64
	pages map[uint64]*page
	dirty map[uint64]bool
}

func newContent() *content {
	return &content{pages: map[uint64]*page{}, dirty: map[uint64]bool{}}
}

func (p *page) latest() []byte {
	if len(p.since) == 0 {
		return p.durable
	}
	return p.since[len(p.since)-1].data
}

func (c *content) read(dest []byte, offset uint64) []byte {
	if offset >= c.size {
		return nil
	}
	dest = dest[:min(uint64(len(dest)), c.size-offset)]
	eachPage(offset, uint64(len(dest)), func(index, from, to, at uint64) {
		part := dest[at : at+to-from]
		clear(part)
		if p := c.pages[index]; p != nil && p.latest() != nil {
			copy(part, p.latest()[from:to])
		}
	})
	return dest
}

func (c *content) write(data []byte, offset uint64) {
	c.order++
	eachPage(offset, uint64(len(data)), func(index, from, to, at uint64) {
		fresh := make([]byte, pageSize)
		if p := c.pages[index]; p != nil {
			copy(fresh, p.latest())
		}
		copy(fresh[from:to], data[at:])
		c.addVersion(index, version{data: fresh, order: c.order})
	})
	if end := offset + uint64(len(data)); end > c.size {
		c.changeSize(end)
	}
}

// truncate makes the file shorter or longer. Bytes that it removed read as zeros if the file grows again.
func (c *content) truncate(size uint64) {
	c.order++
	for index, p := range c.pages {
		start := index * pageSize
		if start+pageSize <= size || p.latest() == nil {
			continue
		}
		var kept []byte
		if start < size {
			kept = make([]byte, pageSize)
			copy(kept, p.latest()[:size-start])
		}
		c.addVersion(index, version{data: kept, order: c.order, isTruncate: true})
	}
	if size != c.size {
		c.changeSize(size)
	}
}

func (c *content) changeSize(size uint64) {
	c.size = size
	c.sizes = append(c.sizes, sizeChange{size, c.order})
}

// addVersion forgets the version before the new one when there are too many; a truncate is never forgotten.
func (c *content) addVersion(index uint64, v version) {
	p := c.pages[index]
	if p == nil {
		p = &page{}
		c.pages[index] = p
	}
	if n := len(p.since); n >= maxVersions && !p.since[n-1].isTruncate {
		p.since = p.since[:n-1]
	}
	p.since = append(p.since, v)
	c.dirty[index] = true
}

// sync is fsync and fdatasync of the data: all of it is on the disk.
func (c *content) sync() {
	for index := range c.dirty {
		c.keep(index, c.pages[index].latest())
	}
	c.settleSize(c.size)
}

func (c *content) keep(index uint64, data []byte) {
	if data == nil {
		delete(c.pages, index)
	} else {
		c.pages[index] = &page{durable: data}
	}
}

func (c *content) settleSize(size uint64) {
	c.size, c.durableSize = size, size
	c.sizes, c.dirty = nil, map[uint64]bool{}
}

// cut leaves the file as the disk has it after a power cut.
func (c *content) cut(mode cutMode, dice *rand.Rand, losses *losses) {
	if len(c.dirty) == 0 && len(c.sizes) == 0 {
		return
	}
	losses.FilesUnsynced++
	plan := planCut(c, mode, dice)
	sizeBefore := c.size
	dirty := make([]uint64, 0, len(c.dirty))
	for index := range c.dirty {
		dirty = append(dirty, index)
	}
	slices.Sort(dirty)
	for _, index := range dirty {
		p := c.pages[index]
		data, isTorn := plan.settle(p)
		losses.PagesUnsynced++
		if lost := countDifferent(p.latest(), data); lost > 0 {
			losses.PagesLost++
			losses.BytesLost += lost
		}
		if isTorn {
			losses.PagesTorn++
		}
		c.keep(index, data)
	}
	if plan.size != sizeBefore {
		losses.SizesLost++
	}
	c.settleSize(plan.size)
	c.clearBehind(plan.size)
}

// clearBehind removes the data of pages that were written, but whose file did not become as long.
func (c *content) clearBehind(size uint64) {
	for index, p := range c.pages {
		start := index * pageSize
		if start >= size {
			delete(c.pages, index)
		} else if start+pageSize > size {
			kept := make([]byte, pageSize)
			copy(kept, p.durable[:size-start])
			p.durable = kept
		}
	}
}

func countDifferent(a, b []byte) int {
	different := 0
	for i := range pageSize {
		if byteAt(a, i) != byteAt(b, i) {
			different++
		}
	}
	return different
}

func byteAt(data []byte, i int) byte {
	if data == nil {
		return 0
	}
	return data[i]
}

// eachPage tells for each page of a range which bytes of the page are meant, and where they begin in the range.
func eachPage(offset, length uint64, tell func(index, from, to, at uint64)) {
	for at := uint64(0); at < length; {
		index, from := (offset+at)/pageSize, (offset+at)%pageSize
		to := min(pageSize, from+length-at)
		tell(index, from, to, at)
		at += to - from
	}
}
