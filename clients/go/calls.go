package millrace

// Message holds what version 2 of Segment's Go library kept in a struct of this name, so that code written for it
// compiles. New code sets MessageId and Timestamp on the call itself, which also wins where both are set.
type Message struct {
	// Type is ignored: the method that takes the call gives its type.
	Type      string
	MessageId string
	Timestamp string
	// SentAt is ignored: requests carry no such time, so that a retry is the same request.
	SentAt string
}

// Call is one of *Identify, *Track, *Page, *Screen, *Group and *Alias.
type Call interface {
	fields(*fields)
}

// Identify says who a user is. UserId or AnonymousId is required.
type Identify struct {
	UserId       string
	AnonymousId  string
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	// Timestamp is when it happened, in ISO 8601; the time of the call when empty. FormatTime makes it from a time.Time.
	Timestamp string
	// MessageId names the call, so that the server and receivers can remove duplicates; made at random when empty.
	MessageId string
	Message
}

// Track says what a user did. Event, and UserId or AnonymousId, are required.
type Track struct {
	UserId       string
	AnonymousId  string
	Event        string
	Properties   map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Page says which page a user saw. UserId or AnonymousId is required.
type Page struct {
	UserId      string
	AnonymousId string
	Category    string
	Name        string
	Properties  map[string]interface{}
	// Traits is the older name of Properties and is sent as properties; of a key in both, Properties has the value.
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Screen says which screen of an app a user saw. UserId or AnonymousId is required.
type Screen struct {
	UserId       string
	AnonymousId  string
	Category     string
	Name         string
	Properties   map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Group says which group a user belongs to. GroupId, and UserId or AnonymousId, are required.
type Group struct {
	UserId       string
	AnonymousId  string
	GroupId      string
	Traits       map[string]interface{}
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// Alias says that two ids are one user. UserId and PreviousId are required.
type Alias struct {
	// UserId is the id of the user in the caller's database.
	UserId string
	// PreviousId is the id to alias from.
	PreviousId   string
	AnonymousId  string
	Context      map[string]interface{}
	Integrations map[string]interface{}
	Timestamp    string
	MessageId    string
	Message
}

// fields is a call of any type, in the one form that is checked and encoded.
type fields struct {
	kind         string
	messageId    string
	timestamp    string
	userId       string
	anonymousId  string
	groupId      string
	previousId   string
	event        string
	name         string
	category     string
	properties   map[string]interface{}
	traits       map[string]interface{}
	context      map[string]interface{}
	integrations map[string]interface{}
}

func (c *Identify) fields(f *fields) {
	f.kind, f.userId, f.anonymousId = "identify", c.UserId, c.AnonymousId
	f.traits, f.context, f.integrations = c.Traits, c.Context, c.Integrations
	f.named(c.MessageId, c.Timestamp, &c.Message)
}

func (c *Track) fields(f *fields) {
	f.kind, f.userId, f.anonymousId, f.event = "track", c.UserId, c.AnonymousId, c.Event
	f.properties, f.context, f.integrations = c.Properties, c.Context, c.Integrations
	f.named(c.MessageId, c.Timestamp, &c.Message)
}

func (c *Page) fields(f *fields) {
	f.kind, f.userId, f.anonymousId, f.name, f.category = "page", c.UserId, c.AnonymousId, c.Name, c.Category
	f.properties, f.context, f.integrations = merged(c.Traits, c.Properties), c.Context, c.Integrations
	f.named(c.MessageId, c.Timestamp, &c.Message)
}

func (c *Screen) fields(f *fields) {
	f.kind, f.userId, f.anonymousId, f.name, f.category = "screen", c.UserId, c.AnonymousId, c.Name, c.Category
	f.properties, f.context, f.integrations = c.Properties, c.Context, c.Integrations
	f.named(c.MessageId, c.Timestamp, &c.Message)
}

func (c *Group) fields(f *fields) {
	f.kind, f.userId, f.anonymousId, f.groupId = "group", c.UserId, c.AnonymousId, c.GroupId
	f.traits, f.context, f.integrations = c.Traits, c.Context, c.Integrations
	f.named(c.MessageId, c.Timestamp, &c.Message)
}

func (c *Alias) fields(f *fields) {
	f.kind, f.userId, f.previousId, f.anonymousId = "alias", c.UserId, c.PreviousId, c.AnonymousId
	f.context, f.integrations = c.Context, c.Integrations
	f.named(c.MessageId, c.Timestamp, &c.Message)
}

func (f *fields) named(messageId, timestamp string, message *Message) {
	f.messageId, f.timestamp = messageId, timestamp
	if f.messageId == "" {
		f.messageId = message.MessageId
	}
	if f.timestamp == "" {
		f.timestamp = message.Timestamp
	}
}

func merged(under, over map[string]interface{}) map[string]interface{} {
	if len(under) == 0 && over != nil {
		return over
	}
	if len(over) == 0 {
		return under
	}
	both := make(map[string]interface{}, len(under)+len(over))
	for key, value := range under {
		both[key] = value
	}
	for key, value := range over {
		both[key] = value
	}
	return both
}
