module koordinator.sh/koordetector

go 1.19
