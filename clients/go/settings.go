package millrace

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// settings is the client's fields with their defaults, read once: the caller may go on changing the fields.
type settings struct {
	url           string
	shownURL      string
	authorization string
	flushAt       int
	flushAfter    time.Duration
	maxBatchCalls int
	maxCalls      int
	maxBytes      int
	whenFull      WhenFull
	maxTries      int
	timeout       time.Duration
	http          http.Client
	onSent        func(Report)
	onFailed      func(Report)
	onDropped     func(Report)
	logger        *log.Logger
	isVerbose     bool
	shownKey      string
}

// begin reads the settings; it is run once, by the first call.
func (c *Client) begin() {
	c.settings, c.startErr = c.readSettings()
	c.anchor = c.now()
	c.wake = make(chan struct{}, 1)
	c.done = make(chan struct{})
	c.life, c.endLife = context.WithCancelCause(context.Background())
}

func (c *Client) readSettings() (settings, error) {
	s := settings{
		authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(c.key+":")),
		flushAt:       cmp.Or(c.FlushAt, c.Size, defaultFlushAt),
		flushAfter:    cmp.Or(c.FlushAfter, c.Interval, defaultFlushAfter),
		maxBatchCalls: MaxBatchCalls,
		maxCalls:      cmp.Or(c.MaxQueueCalls, defaultMaxQueueCalls),
		maxBytes:      cmp.Or(c.MaxQueueBytes, defaultMaxQueueBytes),
		whenFull:      c.WhenFull,
		maxTries:      cmp.Or(c.MaxTries, defaultMaxTries),
		timeout:       cmp.Or(c.Timeout, defaultTimeout),
		http:          c.Client,
		onSent:        c.OnSent,
		onFailed:      c.OnFailed,
		onDropped:     c.OnDropped,
		logger:        cmp.Or(c.Logger, log.New(os.Stderr, "millrace ", log.LstdFlags)),
		isVerbose:     c.Verbose || isDebugging(os.Getenv("DEBUG")),
		shownKey:      masked(c.key),
	}
	if s.flushAt == 1 {
		s.maxBatchCalls = 1
	}
	if s.http.CheckRedirect == nil {
		s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return s, errors.Join(c.checkSettings(), s.readEndpoint(cmp.Or(c.Endpoint, DefaultEndpoint)))
}

func (s *settings) readEndpoint(endpoint string) error {
	address, err := url.Parse(endpoint)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return fmt.Errorf("millrace: Endpoint is not an http or https address: %q", endpoint)
	}
	batch := address.JoinPath("v1", "batch")
	s.url, s.shownURL = batch.String(), batch.Redacted()
	return nil
}

func (c *Client) checkSettings() error {
	if c.key == "" {
		return errors.New("millrace: the write key is empty")
	}
	numbers := []struct {
		name  string
		value int64
	}{
		{"FlushAt", int64(c.FlushAt)}, {"Size", int64(c.Size)}, {"FlushAfter", int64(c.FlushAfter)},
		{"Interval", int64(c.Interval)}, {"MaxQueueCalls", int64(c.MaxQueueCalls)},
		{"MaxQueueBytes", int64(c.MaxQueueBytes)}, {"MaxTries", int64(c.MaxTries)}, {"Timeout", int64(c.Timeout)},
	}
	for _, each := range numbers {
		if each.value < 0 {
			return fmt.Errorf("millrace: %s is negative", each.name)
		}
	}
	if c.WhenFull < DropNewest || c.WhenFull > Block {
		return errors.New("millrace: WhenFull is none of DropNewest, DropOldest and Block")
	}
	return nil
}

// isDebugging reads DEBUG as the libraries that made it known do: names separated by commas or spaces.
func isDebugging(debug string) bool {
	names := strings.FieldsFunc(debug, func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range names {
		if name == "analytics" || name == "*" {
			return true
		}
	}
	return false
}

// masked shows enough of a key to tell two sources apart, and of a short key nothing.
func masked(key string) string {
	if len(key) < 12 {
		return "…"
	}
	return key[:4] + "…"
}
