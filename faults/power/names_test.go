package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestANameIsLostUnlessItsFileOrItsDirectoryWasSynced(t *testing.T) {
	m := newMachine(t)
	m.must(os.MkdirAll(m.path("a/b"), 0o755))
	m.write("a/b/synced", []byte("x"), syscall.O_SYNC)
	m.write("a/b/lost", []byte("x"), 0)
	m.must(os.Mkdir(m.path("listed"), 0o755))
	m.write("listed/empty", []byte("x"), 0)
	m.syncDir("listed")
	lost := m.cut(1, drop)
	m.has("a/b/synced", []byte("x"))
	m.hasNot("a/b/lost")
	// Its name was synced, its data was not.
	m.has("listed/empty", nil)
	if lost.NamesLost != 1 || lost.NamesUnsynced != 1 {
		t.Fatalf("%+v", lost)
	}
}

func TestARenameIsTheOldNameOrTheNewOne(t *testing.T) {
	m, seen := newMachine(t), map[string]int{}
	for seed := range uint64(20) {
		m.write("name", []byte("old"), syscall.O_SYNC)
		m.write("name.tmp", []byte("new"), syscall.O_SYNC)
		m.must(os.Rename(m.path("name.tmp"), m.path("name")))
		m.cut(seed, part)
		data, err := os.ReadFile(m.path("name"))
		m.must(err)
		seen[string(data)]++
		if string(data) == "old" {
			m.has("name.tmp", []byte("new"))
		} else {
			m.hasNot("name.tmp")
		}
	}
	if seen["old"] == 0 || seen["new"] == 0 || len(seen) != 2 {
		t.Fatalf("%v", seen)
	}
}

func TestARenameStaysOnceItsDirectoryWasSynced(t *testing.T) {
	m := newMachine(t)
	m.write("name", []byte("old"), syscall.O_SYNC)
	m.write("name.tmp", []byte("new"), syscall.O_SYNC)
	m.must(os.Rename(m.path("name.tmp"), m.path("name")))
	m.syncDir(".")
	m.cut(1, drop)
	m.has("name", []byte("new"))
	m.hasNot("name.tmp")
}

func TestASyncedNameBringsTheChangesThatItBuildsOn(t *testing.T) {
	m := newMachine(t)
	m.must(os.Mkdir(m.path("from"), 0o755))
	m.write("from/kept", []byte("kept"), syscall.O_SYNC)
	m.must(os.Rename(m.path("from"), m.path("to")))
	m.must(os.Mkdir(m.path("from"), 0o755))
	m.write("from/file", []byte("new"), syscall.O_SYNC)
	m.cut(1, drop)
	m.has("to/kept", []byte("kept"))
	m.has("from/file", []byte("new"))
}

func TestAFileIsThereAgainWhenItsRemovalWasNotSynced(t *testing.T) {
	m := newMachine(t)
	m.write("removed", []byte("x"), syscall.O_SYNC)
	m.write("gone", []byte("x"), syscall.O_SYNC)
	m.must(os.Remove(m.path("gone")))
	m.syncDir(".")
	m.must(os.Remove(m.path("removed")))
	m.hasNot("removed")
	m.cut(1, drop)
	m.has("removed", []byte("x"))
	m.hasNot("gone")
}

func TestSyncStoresEverything(t *testing.T) {
	m := newMachine(t)
	m.must(os.Mkdir(m.path("dir"), 0o755))
	m.write("dir/file", []byte("x"), 0)
	var answers strings.Builder
	obey(m.disk, strings.NewReader("sync\n"), &answers)
	if lost := m.cut(1, drop); lost != (losses{}) || answers.String() != "{}\n" {
		t.Fatal(lost, answers.String())
	}
	m.has("dir/file", []byte("x"))
}

func TestNoFileCanBeUsedWithoutPower(t *testing.T) {
	m := newMachine(t)
	file := m.write("file", []byte("x"), syscall.O_SYNC)
	var answers strings.Builder
	obey(m.disk, strings.NewReader("cut 1 drop\n"), &answers)
	if _, err := file.WriteAt([]byte("y"), 0); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(m.path("file")); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	obey(m.disk, strings.NewReader("restore\ncut 1 half\nnonsense\n"), &answers)
	m.has("file", []byte("x"))
	// A file that was open before the cut belongs to a process that is dead.
	if _, err := file.WriteAt([]byte("y"), 0); err == nil {
		t.Fatal("an open file outlived the cut")
	}
	lines := strings.Split(answers.String(), "\n")
	if !strings.Contains(lines[0], `"pagesLost":0`) || lines[1] != "{}" ||
		!strings.Contains(lines[2], "none of drop") || !strings.Contains(lines[3], "no command") {
		t.Fatal(lines)
	}
}

func TestDirectoriesLinksAndOpenFilesWorkAsUsual(t *testing.T) {
	m := newMachine(t)
	m.must(os.MkdirAll(m.path("d/e"), 0o755))
	file := m.write("d/e/file", []byte("x"), 0)
	m.must(os.Link(m.path("d/e/file"), m.path("d/link")))
	m.must(os.Symlink("link", m.path("d/symbolic")))
	m.must(os.Remove(m.path("d/e/file")))
	m.has("d/symbolic", []byte("x"))
	m.must(os.Remove(m.path("d/link")))
	if _, err := file.WriteAt([]byte("after its removal"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.path("d")); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Fatal(err)
	}
	appended, err := os.OpenFile(m.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	m.must(err)
	for range 3 {
		_, err = appended.WriteString("line\n")
		m.must(err)
	}
	m.must(appended.Close())
	m.has("log", []byte("line\nline\nline\n"))
	names, err := filepath.Glob(m.path("d/*"))
	m.must(err)
	if len(names) != 2 {
		t.Fatal(names)
	}
	m.must(os.RemoveAll(m.path("d")))
	m.hasNot("d")
}
