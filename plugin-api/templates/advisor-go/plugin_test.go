package main

import "testing"

func TestEachAverageHasItsColumn(t *testing.T) {
	for minutes, expected := range map[int64]float64{1: 0.52, 5: 0.48, 15: 0.40} {
		if found, err := loadOf("0.52 0.48 0.40 2/310 4711\n", minutes); err != nil || found != expected {
			t.Errorf("%d minutes: found %v, %v, expected %v", minutes, found, err, expected)
		}
	}
}

func TestWhatIsNoNumberIsAnError(t *testing.T) {
	for _, text := range []string{"", "0.52\n", "much 0.48 0.40 2/310 4711\n"} {
		if found, err := loadOf(text, 1); err == nil {
			t.Errorf("%q: found %v, expected an error", text, found)
		}
	}
}
