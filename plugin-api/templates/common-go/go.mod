module @ID@/plugin

go 1.19

require koordinator.sh/koordetector v0.0.0

replace koordinator.sh/koordetector => ./sdk/go
