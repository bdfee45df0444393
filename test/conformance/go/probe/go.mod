module koordetector.test/probe

go 1.19
