module example.com/advisor-go

go 1.19
