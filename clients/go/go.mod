module github.com/millrace/millrace/clients/go

go 1.25
