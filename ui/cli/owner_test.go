package cli

import "testing"

// A batch of one chain has the name that was given, those of several the chain's number as well.
func TestBatchesOfSeveralChainsHaveTheirNumbers(t *testing.T) {
	for _, c := range []struct {
		file    string
		several bool
		want    string
	}{{"b.json", false, "b.json"}, {"b.json", true, "b-10.json"}, {"dir.d/b", true, "dir.d/b-10"}} {
		if got := SafeName(c.file, c.several, 10); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
