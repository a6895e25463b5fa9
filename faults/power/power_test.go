package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A machine has its files on a disk that can lose its power.
type machine struct {
	*testing.T
	dir  string
	disk *disk
}

func newMachine(t *testing.T) machine {
	t.Helper()
	d, dir := newDisk(), t.TempDir()
	server, err := mount(d, dir)
	if err != nil {
		t.Fatalf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return machine{t, dir, d}
}

func (m machine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m machine) path(name string) string { return filepath.Join(m.dir, name) }

// write writes all of a file at once; flags may say that it is synced.
func (m machine) write(name string, data []byte, flags int) *os.File {
	m.Helper()
	file, err := os.OpenFile(m.path(name), os.O_CREATE|os.O_RDWR|flags, 0o644)
	m.must(err)
	m.Cleanup(func() { _ = file.Close() })
	_, err = file.Write(data)
	m.must(err)
	return file
}

func (m machine) cut(seed uint64, mode cutMode) losses {
	m.Helper()
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	lost := m.disk.cut(seed, mode)
	m.disk.isOff = false
	return lost
}

func (m machine) syncDir(name string) {
	m.Helper()
	dir, err := os.Open(m.path(name))
	m.must(err)
	m.must(dir.Sync())
	m.must(dir.Close())
}

func (m machine) has(name string, want []byte) {
	m.Helper()
	got, err := os.ReadFile(m.path(name))
	m.must(err)
	if !bytes.Equal(got, want) {
		m.Fatalf("%s has %d bytes %.40q…, not %d bytes %.40q…", name, len(got), got, len(want), want)
	}
}

func (m machine) hasNot(name string) {
	m.Helper()
	if _, err := os.Stat(m.path(name)); !os.IsNotExist(err) {
		m.Fatalf("%s is there (%v)", name, err)
	}
}

func pages(count int, fill byte) []byte { return bytes.Repeat([]byte{fill}, count*pageSize) }

func TestAWriteIsReadBeforeItIsSynced(t *testing.T) {
	m := newMachine(t)
	data := append(pages(40, 'a'), "end"...)
	m.write("file", data, 0)
	m.has("file", data)
}

func TestAWriteThatWasNotSyncedIsLost(t *testing.T) {
	m := newMachine(t)
	file := m.write("file", []byte("old"), 0)
	m.must(file.Sync())
	_, err := file.WriteAt([]byte("new and longer"), 0)
	m.must(err)
	m.has("file", []byte("new and longer"))
	lost := m.cut(1, drop)
	m.has("file", []byte("old"))
	if lost.PagesLost != 1 || lost.SizesLost != 1 || lost.BytesLost != len("new and longer") {
		t.Fatalf("%+v", lost)
	}
}

func TestAWriteThatWasSyncedStays(t *testing.T) {
	for _, mode := range []cutMode{drop, part, torn} {
		m := newMachine(t)
		synced := m.write("fsync", pages(3, 'a'), 0)
		m.must(synced.Sync())
		datasynced := m.write("fdatasync", pages(3, 'b'), 0)
		m.must(syscall.Fdatasync(int(datasynced.Fd())))
		m.write("dsync", pages(3, 'c'), syscall.O_DSYNC)
		m.write("sync", pages(3, 'd'), syscall.O_SYNC)
		for seed := range uint64(5) {
			if lost := m.cut(seed, mode); lost != (losses{}) {
				t.Fatalf("%+v", lost)
			}
			for name, fill := range map[string]byte{"fsync": 'a', "fdatasync": 'b', "dsync": 'c', "sync": 'd'} {
				m.has(name, pages(3, fill))
			}
		}
	}
}

func TestPartOfTheWritesSurvivesInWholePages(t *testing.T) {
	m, mixed := newMachine(t), 0
	for seed := range uint64(20) {
		kinds := m.overwrite(seed, part, pageSize)
		if kinds["old"] > 0 && kinds["new"] > 0 {
			mixed++
		}
		if kinds["torn"] > 0 {
			t.Fatalf("seed %d: %v", seed, kinds)
		}
	}
	if mixed < 5 {
		t.Fatalf("%d of 20 cuts kept a part", mixed)
	}
}

func TestATornWriteMixesSectorsAndNeverLess(t *testing.T) {
	m, count := newMachine(t), 0
	for seed := range uint64(20) {
		count += m.overwrite(seed, torn, pageSize)["torn"]
		if kinds := m.overwrite(seed, torn, sectorSize); kinds["torn"] > 0 {
			t.Fatalf("seed %d: a sector is torn: %v", seed, kinds)
		}
	}
	if count < 10 {
		t.Fatalf("%d pages were torn", count)
	}
}

// overwrite loses the power after a write over old data, and counts the pieces of this size that are old, new or both.
func (m machine) overwrite(seed uint64, mode cutMode, piece int) map[string]int {
	m.Helper()
	m.write("file", pages(16, 'o'), syscall.O_SYNC)
	m.write("file", pages(16, 'n'), 0)
	m.cut(seed, mode)
	data, err := os.ReadFile(m.path("file"))
	m.must(err)
	kinds := map[string]int{}
	for from := 0; from < len(data); from += piece {
		switch part := data[from : from+piece]; bytes.Count(part, []byte{'n'}) {
		case 0:
			kinds["old"]++
		case len(part):
			kinds["new"]++
		default:
			kinds["torn"]++
		}
	}
	return kinds
}

func TestTheSameSeedLosesTheSame(t *testing.T) {
	var states []string
	for range 2 {
		m := newMachine(t)
		for i := range 10 {
			m.write(fmt.Sprint("file", i), pages(5, byte('a'+i)), 0)
		}
		lost := m.cut(7, torn)
		state := fmt.Sprint(lost)
		for i := range 10 {
			data, _ := os.ReadFile(m.path(fmt.Sprint("file", i)))
			state += fmt.Sprintf("%q", data)
		}
		states = append(states, state)
	}
	if states[0] != states[1] {
		t.Fatal("two cuts with one seed left two disks")
	}
}

func TestATruncateIsLostOrThereAndNeverHalf(t *testing.T) {
	old, grown := pages(3, 'o'), append(pages(1, 'o'), make([]byte, 2*pageSize)...)
	m, seen := newMachine(t), map[string]int{}
	for seed := range uint64(30) {
		file := m.write("file", old, syscall.O_SYNC)
		m.must(file.Truncate(pageSize))
		m.must(file.Truncate(3 * pageSize))
		m.has("file", grown)
		m.cut(seed, torn)
		data, err := os.ReadFile(m.path("file"))
		m.must(err)
		switch {
		case bytes.Equal(data, old):
			seen["old"]++
		case bytes.Equal(data, pages(1, 'o')):
			seen["short"]++
		case bytes.Equal(data, grown):
			seen["grown"]++
		default:
			t.Fatalf("seed %d: %d bytes, half of a truncate", seed, len(data))
		}
	}
	if len(seen) != 3 {
		t.Fatalf("%v", seen)
	}
}

func TestATruncateThatWasSyncedStays(t *testing.T) {
	m := newMachine(t)
	file := m.write("file", pages(2, 'o'), syscall.O_SYNC)
	m.must(file.Truncate(5))
	m.must(file.Sync())
	m.cut(1, drop)
	m.has("file", []byte("ooooo"))
}
