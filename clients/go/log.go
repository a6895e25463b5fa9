package millrace

import (
	"fmt"
	"log"
	"strings"
	"sync"
	"time"
)

// verbose logs a step with its facts, given as names and values. The source is added to each line.
func (c *Client) verbose(step string, facts ...interface{}) {
	if !c.settings.isVerbose {
		return
	}
	var line strings.Builder
	line.WriteString(step)
	for i := 0; i+1 < len(facts); i += 2 {
		if facts[i+1] != nil {
			fmt.Fprintf(&line, " %v=%v", facts[i], facts[i+1])
		}
	}
	fmt.Fprintf(&line, " key=%s", c.settings.shownKey)
	c.settings.logger.Print(line.String())
}

// dropLog writes at most one line a second: a full queue drops as fast as calls are made.
type dropLog struct {
	mu     sync.Mutex
	count  int
	nextAt time.Time
}

func (d *dropLog) note(logger *log.Logger, dropped int, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count += dropped
	if now.Before(d.nextAt) {
		return
	}
	logger.Printf("%d calls dropped: the queue is full", d.count)
	d.count, d.nextAt = 0, now.Add(time.Second)
}
