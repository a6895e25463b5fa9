package millrace

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Event is the body of a webhook with the id, attempt and order from its headers.
type Event struct {
	// Id is the same for every attempt to deliver this event: receivers recognise a repeated one by it.
	Id string `json:"-"`
	// Attempt counts from 1; 0 where the header is missing.
	Attempt int `json:"-"`
	// Order sorts as text, byte by byte: of one source, the event that was received earlier has the lower one. Empty where it is
	// missing.
	Order string `json:"-"`

	// Version is 1, and 0 for delete, which has none.
	Version int `json:"version"`
	// Type is identify, track, page, screen, group, alias or delete.
	Type        string                 `json:"type"`
	UserId      string                 `json:"userId"`
	AnonymousId string                 `json:"anonymousId"`
	GroupId     string                 `json:"groupId"`
	PreviousId  string                 `json:"previousId"`
	Event       string                 `json:"event"`
	Name        string                 `json:"name"`
	Category    string                 `json:"category"`
	Properties  map[string]interface{} `json:"properties"`
	Traits      map[string]interface{} `json:"traits"`
	Context     map[string]interface{} `json:"context"`
	Timestamp   time.Time              `json:"timestamp"`

	// Raw is the whole body, for what is not among the fields.
	Raw json.RawMessage `json:"-"`
}

var knownTypes = map[string]bool{
	"identify": true, "track": true, "page": true, "screen": true, "group": true, "alias": true, "delete": true,
}

func readEvent(body []byte, header http.Header) (*Event, error) {
	event, err := readBody(body)
	if err != nil {
		return nil, err
	}
	event.Id = header.Get("webhook-id")
	event.Attempt, _ = strconv.Atoi(header.Get("X-Millrace-Attempt"))
	event.Order = header.Get("X-Millrace-Order")
	return event, nil
}

func readBatch(body []byte, header http.Header) ([]*Event, error) {
	var read struct {
		Type   string `json:"type"`
		Events []struct {
			Id      string          `json:"id"`
			Attempt int             `json:"attempt"`
			Order   string          `json:"order"`
			Body    json.RawMessage `json:"body"`
		} `json:"events"`
	}
	if err := json.Unmarshal(body, &read); err != nil || read.Type != "batch" {
		event, err := readEvent(body, header)
		if err != nil {
			return nil, err
		}
		return []*Event{event}, nil
	}
	events := make([]*Event, 0, len(read.Events))
	for _, one := range read.Events {
		event, err := readBody(one.Body)
		if err != nil {
			return nil, err
		}
		event.Id, event.Attempt, event.Order = one.Id, one.Attempt, one.Order
		events = append(events, event)
	}
	return events, nil
}

func readBody(body []byte) (*Event, error) {
	var read struct {
		Event
		// An alias names its ids in words.
		AliasUserId     string `json:"User ID"`
		AliasPreviousId string `json:"Previous ID"`
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return nil, fmt.Errorf("millrace: the webhook is signed but cannot be read: %w", err)
	}
	event := read.Event
	if !knownTypes[event.Type] {
		return nil, fmt.Errorf("millrace: the webhook is signed but cannot be read: its type %q is unknown", event.Type)
	}
	if event.UserId == "" {
		event.UserId = read.AliasUserId
	}
	if event.PreviousId == "" {
		event.PreviousId = read.AliasPreviousId
	}
	event.Raw = append(json.RawMessage(nil), body...)
	return &event, nil
}
