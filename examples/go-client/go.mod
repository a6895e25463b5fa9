module millrace-go-example

go 1.25

require github.com/millrace/millrace/clients/go v0.0.0

replace github.com/millrace/millrace/clients/go => ../../clients/go
