// Power is a disk that can lose its power: a file system in memory that knows which writes were synced.
//
// `power DIR` mounts it at DIR, prints "mounted", and takes a command on each line of its input, which it answers with a line:
//
//	cut SEED drop|part|torn   every operation fails from now on; answers what was lost, as JSON
//	restore                   the power is back, the disk has what the cut left
//	sync                      everything is on the disk, as sync(2) does it: FUSE does not tell us of that
//
// It unmounts and ends when its input ends.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: power DIR")
		os.Exit(64)
	}
	// Ctrl-C reaches all processes of a test run. The tests need the disk until they have stopped their engines; then our input ends.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	disk := newDisk()
	if _, err := mount(disk, os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "%s cannot be mounted: it needs /dev/fuse and the right to mount (%v)\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Println("mounted")
	obey(disk, os.Stdin, os.Stdout)
	// Lazily: a process may still stand in it.
	if err := syscall.Unmount(os.Args[1], syscall.MNT_DETACH); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func obey(d *disk, commands io.Reader, answers io.Writer) {
	lines := bufio.NewScanner(commands)
	for lines.Scan() {
		answer, err := do(d, strings.Fields(lines.Text()))
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(answers, string(text))
	}
}

func do(d *disk, words []string) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case len(words) == 3 && words[0] == "cut":
		seed, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			return nil, err
		}
		mode, err := parseMode(words[2])
		if err != nil {
			return nil, err
		}
		return d.cut(seed, mode), nil
	case len(words) == 1 && words[0] == "restore":
		d.isOff = false
		return struct{}{}, nil
	case len(words) == 1 && words[0] == "sync":
		d.syncAll()
		return struct{}{}, nil
	}
	return nil, fmt.Errorf("%q is no command", strings.Join(words, " "))
}
