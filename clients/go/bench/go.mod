module github.com/millrace/millrace/clients/go/bench

go 1.25

require (
	github.com/millrace/millrace/clients/go v0.0.0
	gopkg.in/segmentio/analytics-go.v3 v3.1.0
)

require (
	github.com/segmentio/backo-go v1.1.0 // indirect
	github.com/xtgo/uuid v0.0.0-20140804021211-a0b114877d4c // indirect
)

replace github.com/millrace/millrace/clients/go => ..
